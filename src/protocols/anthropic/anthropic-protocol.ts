import { isRecord, toRecords } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { createAnthropicAssembler } from './anthropic-assembler.js';
import { writeAnthropic } from './write-anthropic.js';

/** A message or its content blocks in; the one user message that has to hold all results out. */
export const anthropicProtocol: WireProtocol = {
  recognises: (input) => isMessage(input) || isContent(input) || isToolUse(input),
  read: readAnthropic,
  write: writeAnthropic,
  createAssembler: createAnthropicAssembler,
};

const BLOCK_TYPES: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
]);

const CUT_OFF =
  'the response was cut off (stop_reason "max_tokens"), its arguments may be incomplete. Send it again, shorter.';

function readAnthropic(input: unknown): readonly RawCall[] {
  const blocks = toRecords(toContent(input));
  const cutOff = isRecord(input) && input.stop_reason === 'max_tokens' ? blocks.at(-1) : undefined;
  return blocks.filter(isToolUse).map((block) => {
    const { id, name, input: args } = block;
    return block === cutOff ? { id, name, problem: CUT_OFF } : { id, name, args, argsField: 'input' };
  });
}

function toContent(input: unknown): unknown {
  if (isMessage(input)) return input.content;
  return Array.isArray(input) ? input : [input];
}

function isMessage(input: unknown): input is { readonly [key: string]: unknown } {
  if (!isRecord(input) || !Array.isArray(input.content)) return false;
  return input.role === 'assistant' || (input.role === undefined && isContent(input.content));
}

function isContent(input: unknown): boolean {
  if (!Array.isArray(input) || input.length === 0) return false;
  const blocks = toRecords(input);
  if (blocks.length < input.length) return false;
  // A block of a kind that is newer than this list does no harm beside a call.
  return blocks.some(isToolUse) || blocks.every((block) => BLOCK_TYPES.has(block.type));
}

function isToolUse(value: unknown): value is { readonly [key: string]: unknown } {
  return isRecord(value) && value.type === 'tool_use';
}
