import { isRecord } from '../is-record.js';
import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { isTextEditor, readTextEdit } from './read-text-edit.js';

export type ToolUse = { readonly [key: string]: unknown };

export function isToolUse(value: unknown): value is ToolUse {
  return isRecord(value) && value.type === 'tool_use';
}

/**
 * A `tool_use` block. Tools that the provider has words of its own for (`bash_20250124`, `text_editor_20250728` and
 * older) are read as ours, unless the model was shown a tool of that very name.
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
      'there is no session to restart: every command runs in a shell of its own. Send "command" alone.';
    return { id, name: 'bash', problem };
  }
  return { id, name: 'bash', args: rest, argsField: 'input' };
}
