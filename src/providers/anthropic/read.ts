import type { KnownTools } from '../known-tools.js';
import type { AskedCall, RawCall } from '../raw-call.js';
import { describeValue, isRecord, toName, toRecords } from '../unknown-value.js';

/** Whether input is a message, its content blocks, or one of them. */
export function isAnthropic(input: unknown): boolean {
  return isMessage(input) || isContent(input) || isToolUse(input);
}

export function messageIdOf(input: unknown): string | undefined {
  const message = isRecord(input) && input.type === 'message_start' ? input.message : input;
  return isMessage(message) ? toName(message.id) : undefined;
}

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

const CUT_OFF =
  'the response was cut off (stop_reason "max_tokens"), its arguments may be incomplete. Send it again, shorter.';

export function readAnthropic(input: unknown, tools: KnownTools): readonly RawCall[] {
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
  // Next to a call, a block of an unknown newer kind is harmless.
  return blocks.some(isToolUse) || blocks.every((block) => BLOCK_TYPES.has(block.type));
}

export type ToolUse = { readonly [key: string]: unknown };

export function isToolUse(value: unknown): value is ToolUse {
  return isRecord(value) && value.type === 'tool_use';
}

/**
 * A `tool_use` block. Tools that the provider defines itself (`bash_20250124`, `text_editor_20250728` and
 * older) are read as ours, unless the model was shown a tool with that name.
 */
export function readToolUse({ id, name, input, toolset_name: toolset }: ToolUse, tools: KnownTools): RawCall {
  const origin = typeof toolset === 'string' ? { origin: { toolset } } : {};
  if (isTextEditor(name) && !tools.has(name) && isRecord(input)) {
    return { ...readTextEdit(id, name, input), ...origin };
  }
  if (name === 'bash' && isRecord(input) && 'restart' in input && !tools.takes(name, 'restart')) {
    return { ...readRestart(id, input), ...origin };
  }
  return { id, name, args: input, argsField: 'input', ...origin };
}

function readRestart(id: unknown, { restart, ...rest }: ToolUse): RawCall {
  if (restart === true) {
    const problem =
      'there is no session to restart: every command runs in a separate shell. Send "command" alone.';
    return { id, name: 'bash', problem };
  }
  return { id, name: 'bash', args: rest, argsField: 'input' };
}

type Input = { readonly [key: string]: unknown };
/** Our call in place of the command, or the fault. */
type Translated = Pick<AskedCall, 'name' | 'args'> | string;

const EDITORS: ReadonlySet<unknown> = new Set(['str_replace_based_edit_tool', 'str_replace_editor']);

/** The names of `text_editor_20250728` and `_20250429`, and of `_20250124` and older. */
function isTextEditor(name: unknown): name is string {
  return EDITORS.has(name);
}

const COMMANDS: ReadonlyMap<unknown, (input: Input, path: string) => Translated> = new Map([
  ['view', readView],
  ['create', readCreate],
  ['str_replace', readReplace],
  ['insert', () => NO_INSERT],
  ['undo_edit', () => NO_UNDO],
]);

/** Turns a text editor command into a call of `read_file`, `list_directory`, `write_file` or `edit_file`. */
function readTextEdit(id: unknown, name: string, input: Input): RawCall {
  const translated = translate(input);
  if (typeof translated === 'string') return { id, name, problem: translated };
  return { id, ...translated, argsField: 'input' };
}

function translate(input: Input): Translated {
  const { command, path } = input;
  const read = COMMANDS.get(command);
  if (read === undefined) {
    return `"command" is ${describeValue(command)}, one of ${[...COMMANDS.keys()].slice(0, 3).join(', ')} was expected.`;
  }
  if (typeof path !== 'string') return `"path" is ${describeValue(path)}, a string was expected.`;
  return read(input, path);
}

// Our tools cannot insert at a line number without the surrounding text, and guessing that text would be
// wrong.
const NO_INSERT =
  'inserting at a line number is not possible here. Send "str_replace" with the line before it as "old_str", and that line followed by the new text as "new_str".';
const NO_UNDO =
  'undoing is not possible here. Send "str_replace" with the present text as "old_str" and the former text as "new_str".';

function readView({ view_range: range }: Input, path: string): Translated {
  if (range === undefined || range === null) return viewWhole(path);
  const [start, end] = Array.isArray(range) ? range : [];
  if (!Array.isArray(range) || range.length !== 2 || !isLine(start) || !(isLine(end) || end === -1)) {
    return `"view_range" is ${describeValue(range)}, two line numbers from 1 were expected; the second may be -1.`;
  }
  return { name: 'read_file', args: { path, start_line: start, ...(end === -1 ? {} : { end_line: end }) } };
}

function isLine(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1;
}

/**
 * Only an obvious directory path is read as one; for others `read_file` reports that they are directories.
 */
function viewWhole(path: string): Translated {
  const isDirectory = /(?:^|\/)(?:\.{1,2})?$/.test(path) && path !== '';
  return { name: isDirectory ? 'list_directory' : 'read_file', args: { path } };
}

function readCreate({ file_text: content }: Input, path: string): Translated {
  if (typeof content !== 'string') return `"file_text" is ${describeValue(content)}, a string was expected.`;
  return { name: 'write_file', args: { path, content, mode: 'create' } };
}

function readReplace({ old_str: before, new_str: after }: Input, path: string): Translated {
  if (typeof before !== 'string') return `"old_str" is ${describeValue(before)}, a string was expected.`;
  if (after !== undefined && after !== null && typeof after !== 'string') {
    return `"new_str" is ${describeValue(after)}, a string was expected.`;
  }
  return { name: 'edit_file', args: { path, old_string: before, new_string: after ?? '' } };
}
