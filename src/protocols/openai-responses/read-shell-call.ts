import { describeValue } from '../describe-value.js';
import { isRecord } from '../is-record.js';
import type { RawCall } from '../raw-call.js';
import type { Item } from './item.js';

/**
 * `shell_call`: its commands as one call of `bash`. Several are run one after the other, each in a subshell of its
 * own, so that none ends or moves the next; the exit code is that of the last that failed.
 */
export function readShellCall({ call_id: id, action }: Item): RawCall {
  const origin = { item: 'shell_call' } as const;
  if (!isRecord(action)) {
    return { id, name: 'bash', problem: `"action" is ${describeValue(action)}, ${EXPECTED}`, origin };
  }
  const { commands, timeout_ms: timeout, max_output_length: maxOutputLength } = action;
  // The provider refuses an answer that leaves it out.
  const limit = typeof maxOutputLength === 'number' ? { maxOutputLength } : {};
  const known = { id, name: 'bash', origin: { ...origin, ...limit } };
  if (!Array.isArray(commands) || commands.length === 0) {
    return { ...known, problem: `"commands" is ${describeList(commands)}, ${EXPECTED}` };
  }
  const texts = commands.filter((command): command is string => typeof command === 'string');
  if (texts.length < commands.length) {
    return { ...known, problem: `"commands" holds something else than strings, ${EXPECTED}` };
  }
  const args = { command: toScript(texts), ...(isGiven(timeout) ? { timeout } : {}) };
  return { ...known, args, argsField: 'action' };
}

const EXPECTED = 'an object with "commands", a list of at least one command line, was expected.';

function describeList(value: unknown): string {
  return Array.isArray(value) ? 'an empty list' : describeValue(value);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function toScript(commands: readonly string[]): string {
  const [only] = commands;
  if (commands.length === 1 && only !== undefined) return only;
  // The line end before the parenthesis: a command may end with a comment.
  const steps = commands.map((command) => `(\n${command}\n) || failed=$?`);
  return ['failed=0', ...steps, 'exit "$failed"'].join('\n');
}
