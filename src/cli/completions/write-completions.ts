import type { Command } from 'commander';
import { builtinTools } from '../../executor/builtin-tools.js';
import type { TextOutput } from '../../platform/stdio.js';
import { complete, type Names } from './candidates.js';

const NAMES: Names = {
  tools: () =>
    builtinTools().map(({ name, description }) => ({
      value: name,
      description: description.split(/[.\n]/)[0] ?? '',
    })),
};

/**
 * Answers a shell's completion script: a line for each candidate, its description behind a tab, and at the end a
 * line `:files`, `:directories` or `:none`.
 */
export function writeCompletions(program: Command, words: readonly string[], out: TextOutput): void {
  const { candidates, places } = complete(program, words, NAMES);
  for (const { value, description } of candidates) out.write(`${value}\t${description}\n`);
  out.write(`:${places}\n`);
}
