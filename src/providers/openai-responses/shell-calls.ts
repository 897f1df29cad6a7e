import { quoted, quoteWord } from '../../base/quote-word.js';
import type { RawCall } from '../raw-call.js';
import { describeValue, isRecord, quote } from '../unknown-value.js';
import type { Item } from './read.js';

/**
 * `shell_call`: its commands as one call of `bash`. Several commands run in sequence, each in its own
 * subshell, so that none ends the others or changes their directory; the exit code is that of the last
 * failure.
 */
export function readShellCall({ call_id: id, action }: Item): RawCall {
  const origin = { item: 'shell_call' } as const;
  if (!isRecord(action)) {
    return { id, name: 'bash', problem: `"action" is ${describeValue(action)}, ${EXPECTED}`, origin };
  }
  const { commands, timeout_ms: timeout, max_output_length: maxOutputLength } = action;
  // The provider rejects an answer without it.
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

/** `local_shell_call`: its quoted argument vector, with its variables in front, as a call of `bash`. */
export function readLocalShellCall({ call_id: callId, id: itemId, action }: Item): RawCall {
  const known = { id: callId ?? itemId, name: 'bash', origin: { item: 'local_shell_call' } } as const;
  if (!isRecord(action)) {
    return { ...known, problem: `"action" is ${describeValue(action)}, an object was expected.` };
  }
  const { command, env, timeout_ms: timeout, user, working_directory: directory } = action;
  if (user !== undefined && user !== null) {
    return { ...known, problem: 'commands run as the user of this program. Leave out "user".' };
  }
  const line = toCommandLine(command, env);
  if ('problem' in line) return { ...known, problem: line.problem };
  const args = {
    command: line.text,
    ...(timeout === undefined || timeout === null ? {} : { timeout }),
    ...(directory === undefined || directory === null ? {} : { working_dir: directory }),
  };
  return { ...known, args, argsField: 'action' };
}

type CommandLine = { readonly text: string } | { readonly problem: string };

function toCommandLine(command: unknown, env: unknown): CommandLine {
  if (!Array.isArray(command) || command.length === 0 || !command.every(isString)) {
    return { problem: '"command" was expected to be a list of strings: a program and its arguments.' };
  }
  if (env !== undefined && env !== null && !isRecord(env)) {
    return { problem: `"env" is ${describeValue(env)}, an object of strings was expected.` };
  }
  const variables: string[] = [];
  for (const [name, value] of Object.entries(env ?? {})) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || typeof value !== 'string') {
      return { problem: `"env" holds ${quote(name)}, which is not a shell variable with a string.` };
    }
    variables.push(`${name}=${quoteWord(value)}`);
  }
  const [program = '', ...rest] = command;
  // Quoted, a keyword of the shell or an assignment is a program's name.
  const first = SHELL_WORDS.has(program) || program.includes('=') ? quoted(program) : quoteWord(program);
  return { text: [...variables, first, ...rest.map(quoteWord)].join(' ') };
}

const SHELL_WORDS = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(
    ' ',
  ),
);

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
