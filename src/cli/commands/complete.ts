import type { Argument, Command, Option } from 'commander';
import { builtinTools } from '../../executor/builtin-tools.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import type { DefineCommand } from '../cli-context.js';

export const define: DefineCommand = (command, context, finish) => {
  command.argument('[word...]', 'what was typed so far').action(async (words: readonly string[]) => {
    writeCompletions(command.parent ?? command, words, context.stdio.stdout);
    finish(0);
  });
};

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** The additional candidates that the shell provides. */
  readonly places: 'none' | 'files' | 'directories';
}

/** Names that the commands themselves do not contain. */
export interface Names {
  tools(): readonly Candidate[];
}

const NOTHING: Completion = { candidates: [], places: 'none' };

/** The candidates for the last word, which may be incomplete or empty. */
export function complete(program: Command, split: readonly string[], names: Names): Completion {
  const words = withoutSigns(split);
  const typed = words.at(-1) ?? '';
  const { command, rest } = descend(program, words.slice(0, -1));
  const { awaiting, positionals } = readWords(command, rest);
  const [flag, unfinished] = splitFlag(typed);
  if (unfinished !== undefined) {
    const option = findOption(command, flag);
    return prefixed(option === undefined ? NOTHING : valuesOf(option, names), unfinished, `${flag}=`);
  }
  if (awaiting !== undefined && !typed.startsWith('-')) {
    const values = valuesOf(awaiting, names);
    // A list may end at any word, so the next argument's candidates are offered too.
    return awaiting.variadic
      ? join(prefixed(values, typed), argument(command, positionals, typed, names))
      : prefixed(values, typed);
  }
  if (typed.startsWith('-')) return prefixed({ candidates: optionsOf(command), places: 'none' }, typed);
  return argument(command, positionals, typed, names);
}

/** Bash passes `--format=x` as three words. */
function withoutSigns(words: readonly string[]): readonly string[] {
  return words.at(-1) === '=' ? [...words.slice(0, -1), ''] : words.filter((word) => word !== '=');
}

function argument(command: Command, positionals: number, typed: string, names: Names): Completion {
  if (command.commands.length > 0)
    return prefixed({ candidates: commandsOf(command), places: 'none' }, typed);
  const expected = command.registeredArguments[positionals];
  return expected === undefined ? NOTHING : prefixed(valuesOf(expected, names), typed);
}

function descend(command: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  const [name, ...rest] = words;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  return inner === undefined ? { command, rest: words } : descend(inner, rest);
}

/** The option that waits for a value, and the number of the command's own arguments. */
function readWords(command: Command, words: readonly string[]): { awaiting?: Option; positionals: number } {
  let awaiting: Option | undefined;
  let positionals = 0;
  for (const word of words) {
    if (word.startsWith('-') && word !== '-') {
      const option = findOption(command, word);
      awaiting = option?.required === true || option?.variadic === true ? option : undefined;
    } else if (awaiting === undefined) {
      positionals++;
    } else if (!awaiting.variadic) {
      awaiting = undefined;
    }
  }
  return awaiting === undefined ? { positionals } : { awaiting, positionals };
}

function splitFlag(typed: string): [flag: string, value: string | undefined] {
  const at = typed.startsWith('--') ? typed.indexOf('=') : -1;
  return at === -1 ? [typed, undefined] : [typed.slice(0, at), typed.slice(at + 1)];
}

function findOption(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}

/** The name in brackets shows the kind of value: `<file>`, `<dir...>`, `<tool>`. */
function valuesOf(taker: Option | Argument, names: Names): Completion {
  const { argChoices } = taker;
  if (argChoices !== undefined) {
    return { candidates: argChoices.map((value) => ({ value, description: '' })), places: 'none' };
  }
  const placeholder = 'flags' in taker ? (/[<[]([a-z]+)/.exec(taker.flags)?.[1] ?? '') : taker.name();
  if (placeholder === 'tool') return { candidates: names.tools(), places: 'none' };
  if (placeholder === 'dir') return { candidates: [], places: 'directories' };
  return { candidates: [], places: placeholder === 'file' ? 'files' : 'none' };
}

function optionsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((inner) => ({ value: inner.name(), description: inner.summary() || inner.description() }));
}

function prefixed({ candidates, places }: Completion, typed: string, put = ''): Completion {
  return {
    candidates: candidates
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, description }) => ({ value: `${put}${value}`, description })),
    // `--config=…`: shells only complete paths of whole words.
    places: put === '' ? places : 'none',
  };
}

function join(one: Completion, other: Completion): Completion {
  return {
    candidates: [...one.candidates, ...other.candidates],
    places: one.places === 'none' ? other.places : one.places,
  };
}

const NAMES: Names = {
  tools: () =>
    builtinTools().map(({ name, description }) => ({
      value: name,
      description: description.split(/[.\n]/)[0] ?? '',
    })),
};

/**
 * Answers a shell's completion script: one line per candidate, with its description after a tab, and a last
 * line `:files`, `:directories` or `:none`.
 */
export function writeCompletions(program: Command, words: readonly string[], out: TextOutput): void {
  const { candidates, places } = complete(program, words, NAMES);
  for (const { value, description } of candidates) out.write(`${value}\t${description}\n`);
  out.write(`:${places}\n`);
}
