import { Command, CommanderError } from 'commander';
import type { CliContext } from './cli-context.js';
import { UsageError } from './cli-context.js';
import type { DefineCommand, Finish } from './define/command-group.js';
import { defineApprove } from './define/define-approve.js';
import { defineCall } from './define/define-call.js';
import { defineCompletions } from './define/define-completions.js';
import { defineConfig } from './define/define-config.js';
import { defineDoctor } from './define/define-doctor.js';
import { defineJournal } from './define/define-journal.js';
import { definePlan } from './define/define-plan.js';
import { definePolicy } from './define/define-policy.js';
import { defineRepair } from './define/define-repair.js';
import { defineRun } from './define/define-run.js';
import { defineTools } from './define/define-tools.js';
import { defineUndo } from './define/define-undo.js';
import { defineWaiting } from './define/define-waiting.js';
import { separateArguments } from './define/separate-arguments.js';
import type { ExitCode } from './exit-code.js';
import { VERSION } from './version.js';

const COMMANDS: readonly DefineCommand[] = [
  defineRun,
  definePlan,
  defineCall,
  defineTools,
  defineConfig,
  definePolicy,
  defineRepair,
  defineJournal,
  defineWaiting,
  defineUndo,
  defineApprove,
  defineDoctor,
  defineCompletions,
];

const EXAMPLES = `Examples:
  toolexec run response.json              run the calls of a model's response, results on standard output
  cat response.json | toolexec run --yes  the same from a pipe, every approval given in advance
  toolexec plan response.json             say what would happen, and touch nothing
  toolexec call read_file '{"path":"README.md"}'
  toolexec tools schema --for anthropic   the tools of a request
  toolexec doctor                         what works on this machine
`;

/**
 * Does what was typed. Commands are loaded when they are asked for: help must not wait for an executor.
 * @throws UsageError for a command, an argument or an option that does not exist.
 */
export async function runProgram(context: CliContext): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = createProgram(context, (outcome) => {
    code = outcome;
  });
  const { args } = context.stdio;
  try {
    await program.parseAsync(inOrder(program, args), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0)
      throw new UsageError(toOneLine(error, namedCommand(program, args)), { cause: error });
  }
  return code;
}

function createProgram(context: CliContext, finish: Finish): Command {
  const { stdout } = context.stdio;
  const program = new Command('toolexec')
    .description('Runs the tool calls a language model asks for, and answers each of them exactly once.')
    .version(VERSION, '--version', 'print the version')
    .helpOption('--help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('before', EXAMPLES)
    .exitOverride()
    // What goes wrong is told once, in one line, by whoever catches it.
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr() {}, outputError() {} });
  for (const define of COMMANDS) define(program, context, finish);
  return program;
}

/** The words with a command's own arguments before its options; what completes is left as it was typed. */
function inOrder(command: Command, words: readonly string[]): string[] {
  const [name, ...rest] = words;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  if (inner === undefined || inner.name() === 'complete') return [...words];
  const ordered = inner.commands.length > 0 ? inOrder(inner, rest) : separateArguments(rest, inner);
  return [inner.name(), ...ordered];
}

/** The innermost command that the words name. */
function namedCommand(command: Command, words: readonly string[]): Command {
  const [name, ...rest] = words;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  return inner === undefined ? command : namedCommand(inner, rest);
}

function toOneLine(error: CommanderError, command: Command): string {
  const see = `See ${fullName(command)} --help.`;
  if (error.code === 'commander.help') {
    const names = command.commands.map((inner) => inner.name()).filter((name) => name !== 'complete');
    const what = command.parent === null ? 'Name a command' : `Name what ${fullName(command)} shall do`;
    return `${what}: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}. ${see}`;
  }
  const [problem = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1).replace(/\.?$/, '.');
  // A suggestion comes in brackets: (Did you mean --json?)
  return [sentence, ...hints.map((hint) => hint.replace(/^\(|\)$/g, '')), see].join(' ');
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
