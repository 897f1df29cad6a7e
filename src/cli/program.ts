import { Command, CommanderError } from 'commander';
import { addCall, addPlan, addRun } from './define-commands.js';
import type { ExitCode } from './exit-code.js';
import { separateArguments } from './separate-arguments.js';
import type { Surroundings } from './surroundings.js';
import { UsageError } from './usage-error.js';
import { VERSION } from './version.js';

const EXAMPLES = `Examples:
  toolexec run response.json              run the calls of a model's response, results on standard output
  cat response.json | toolexec run --yes  the same from a pipe, every approval given in advance
  toolexec plan response.json             say what would happen, and touch nothing
  toolexec call read_file '{"path":"README.md"}'
`;

/**
 * Does what was typed. Commands are loaded when they are asked for: help must not wait for an executor.
 * @throws UsageError for a command, an argument or an option that does not exist.
 */
export async function runProgram(surroundings: Surroundings): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = createProgram(surroundings, (outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync(withSeparateArguments(program, surroundings.stdio.args), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(toOneLine(error), { cause: error });
  }
  return code;
}

function createProgram(surroundings: Surroundings, finish: (code: ExitCode) => void): Command {
  const { stdout } = surroundings.stdio;
  const program = new Command('toolexec')
    .description('Runs the tool calls a language model asks for, and answers each of them exactly once.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('before', EXAMPLES)
    .exitOverride()
    // What goes wrong is told once, in one line, by whoever catches it.
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr() {}, outputError() {} });
  addRun(program, surroundings, finish);
  addPlan(program, surroundings, finish);
  addCall(program, surroundings, finish);
  return program;
}

function withSeparateArguments(program: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args;
  const command = program.commands.find((candidate) => candidate.name() === name);
  return command === undefined ? [...args] : [command.name(), ...separateArguments(rest, command)];
}

function toOneLine(error: CommanderError): string {
  if (error.code === 'commander.help') return 'Name a command: run, plan or call. See toolexec --help.';
  const [problem = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1).replace(/\.?$/, '.');
  // A suggestion comes in brackets: (Did you mean --json?)
  return [sentence, ...hints.map((hint) => hint.replace(/^\(|\)$/g, '')), 'See toolexec --help.'].join(' ');
}
