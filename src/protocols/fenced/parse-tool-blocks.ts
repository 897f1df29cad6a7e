import type { ReadError, ToolCall } from '../../contract/call.js';
import { CallCollector } from '../call-collector.js';
import { KnownTools } from '../known-tools.js';
import { readFences } from './read.js';

export interface ToolBlockOptions {
  /**
   * What may stand after the three backticks, in any case; the empty label is a bare fence. Default: `tool` exactly
   * (F015). A block under another label than `tool` counts when it holds an object with a "name".
   */
  readonly labels?: readonly string[];
}

/** The calls in the fenced blocks of a text, in order (A012, A021–A028). Never throws (A025). */
export function parseToolBlocks(
  text: string,
  options: ToolBlockOptions = {},
): { calls: ToolCall[]; errors: ReadError[] } {
  const collector = new CallCollector(new KnownTools(undefined));
  const calls = collector.add(readFences(text, options.labels));
  return { calls, errors: collector.errors };
}
