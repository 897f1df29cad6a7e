import type { ToolCall } from '../../contract/call.js';
import type { Stdio } from '../../platform/stdio.js';
import type { CallOrigin } from '../../protocols/call-origin.js';
import { readCalls } from '../../protocols/read-calls.js';
import type { WireFormat } from '../../protocols/registry.js';
import type { ReadError } from '../../protocols/resolve-call.js';
import type { ReadCalls } from '../../protocols/response-calls.js';
import { UsageError } from '../usage-error.js';
import { readSource } from './read-source.js';

export interface ModelResponse {
  /** As it came: names the delivery. */
  readonly text: string;
  readonly format: WireFormat;
  readonly calls: readonly ToolCall[];
  readonly errors: readonly ReadError[];
  /** How each call stood in the response, for its answer. */
  readonly origins?: readonly CallOrigin[];
}

/** A model's response from a file or standard input. @throws UsageError when it is none. */
export async function readResponse(source: string | undefined, stdio: Stdio): Promise<ModelResponse> {
  const { name, text } = await readSource(source, stdio);
  if (text.trim() === '') {
    throw new UsageError(
      `Cannot read ${name}: it is empty. A model's response with its tool calls was expected.`,
    );
  }
  const read = readCalls(text);
  const [problem] = read.errors;
  if (problem !== undefined && (read.shape === 'unknown' || isOnlyUnfinished(read))) {
    throw new UsageError(`Cannot read ${name}: ${withoutOpening(problem.message)}`);
  }
  return { text, ...read };
}

/** Nothing to run and nothing to answer: the response was cut off. */
function isOnlyUnfinished({ calls, errors }: ReadCalls): boolean {
  return calls.length === 0 && errors.length === 1 && errors[0]?.unfinished === true;
}

// The message was written for a model, which has no file name to be told.
function withoutOpening(message: string): string {
  return message.replace(/^Cannot (?:read|find a call in) the input: /, '');
}
