import type { Command } from 'commander';
import type { EXIT_CODES } from '../errors/catalogue.js';
import type { Stdio } from '../platform/runtime/stdio.js';

/** The process environment of a command. */
export interface CliContext {
  readonly stdio: Stdio;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The version of this package. */
  readonly version: string;
  readonly exitNow: (code: number) => never;
}

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]['code'];

/**
 * Every file in `commands/` exports one as `define`: it adds the description, arguments, options and action
 * to its command. The action passes its exit code to `finish`: an `ExitCode`, or that of a command that
 * the person runs.
 */
export type DefineCommand = (command: Command, context: CliContext, finish: (code: number) => void) => void;

/**
 * A command that agents start for each of their calls also exports this. It handles the words that agents use without
 * the option parser, which takes long to load. Undefined: other words, which the parser reads or refuses.
 */
export type RunPlain = (words: readonly string[], context: CliContext) => Promise<number> | undefined;

/** Standard output cannot be written, for example because its disk is full. One line, exit code 1. */
export class OutputLost extends Error {
  constructor(cause: unknown, remedy: string) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`Cannot write to standard output: ${why}.${remedy}`, { cause });
    this.name = 'OutputLost';
  }
}

/** Commands whose output is the results of calls. */
const RUNS_CALLS: ReadonlySet<string> = new Set(['run', 'call', 'approve', 'chat', 'try']);
const IN_JOURNAL = ' The calls that have run are in the journal: toolexec journal list.';

/** @throws OutputLost */
export async function flushOutput({ stdout, args }: Pick<Stdio, 'stdout' | 'args'>): Promise<void> {
  await stdout.flushed().catch((error) => {
    const [name = '', ...options] = args;
    const hasRun = RUNS_CALLS.has(name) && !options.includes('--help');
    throw new OutputLost(error, hasRun ? IN_JOURNAL : '');
  });
}

/** A mistake that the person can correct: usage, input or configuration. One line, exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'UsageError';
  }
}
