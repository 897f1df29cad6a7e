import type { Command } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { ExitCode } from '../exit-code.js';

export type Finish = (code: ExitCode) => void;

/** Adds a command, or a group of them, to the program. What it does is loaded when it is asked for. */
export type DefineCommand = (program: Command, context: CliContext, finish: Finish) => void;
