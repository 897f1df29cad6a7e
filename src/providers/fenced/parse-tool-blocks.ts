import { checkOptions, isTextList, type OptionRules, option } from '../../base/normalize-options.js';
import type { ReadError, ToolCall } from '../../contract/call.js';
import { CallCollector } from '../call-collector.js';
import { KnownTools } from '../known-tools.js';
import { readFences } from './read.js';

export interface ToolBlockOptions {
  /**
   * The labels that may follow the three backticks, in any case; an empty label means a bare fence. Default:
   * exactly `tool` (F015). A block with another label counts if it holds an object with a "name".
   */
  readonly labels?: readonly string[];
}

/**
 * Reads the calls in the fenced blocks of a text, in order (A012, A021–A028). No text makes it throw (A025).
 * @throws ToolError `config_invalid` for an unknown option or an invalid value
 */
export function parseToolBlocks(
  text: string,
  options: ToolBlockOptions = {},
): { calls: ToolCall[]; errors: ReadError[] } {
  checkOptions('parseToolBlocks', options, OPTIONS);
  const collector = new CallCollector(new KnownTools(undefined));
  const calls = collector.add(readFences(text, options.labels));
  return { calls, errors: collector.errors };
}

const OPTIONS: OptionRules<Required<ToolBlockOptions>> = {
  labels: option<readonly string[]>([], isTextList, 'a list of labels'),
};
