import { isRecord, toName, toRecords } from '../is-record.js';
import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { createAnthropicAssembler } from './anthropic-assembler.js';
import { isToolUse, readToolUse } from './read-tool-use.js';
import { writeAnthropic } from './write-anthropic.js';

/** A message or its content blocks in; the one user message that has to hold all results out. */
export const anthropicProtocol: WireProtocol<'anthropic'> = {
  recognises: (input) => isMessage(input) || isContent(input) || isToolUse(input),
  idOf: (input) => {
    const message = isRecord(input) && input.type === 'message_start' ? input.message : input;
    return isMessage(message) ? toName(message.id) : undefined;
  },
  read: readAnthropic,
  write: writeAnthropic,
  createAssembler: createAnthropicAssembler,
  recognisesEvent: (event) => isRecord(event) && EVENT_TYPES.has(event.type),
};

const BLOCK_TYPES: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'server_tool_use',
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'container_upload',
  'mcp_tool_use',
  'mcp_tool_result',
]);

const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

const CUT_OFF =
  'the response was cut off (stop_reason "max_tokens"), its arguments may be incomplete. Send it again, shorter.';

function readAnthropic(input: unknown, tools: KnownTools): readonly RawCall[] {
  const blocks = toRecords(toContent(input));
  const cutOff = isRecord(input) && input.stop_reason === 'max_tokens' ? blocks.at(-1) : undefined;
  return blocks
    .filter(isToolUse)
    .map((block) =>
      block === cutOff ? { id: block.id, name: block.name, problem: CUT_OFF } : readToolUse(block, tools),
    );
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
