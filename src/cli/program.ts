import { Command, CommanderError } from 'commander';
import { nearestName } from '../base/nearest-name.js';
import { type CliContext, UsageError } from './cli-context.js';
import { COMMANDS, type CommandGroup, type CommandRow } from './commands.js';
import { separateArguments } from './separate-arguments.js';

const EXAMPLES = `Examples:
  toolexec run response.json              run the calls of a model's response, results on standard output
  cat response.json | toolexec run --yes  the same from a pipe, every approval given in advance
  toolexec plan response.json             say what would happen, and touch nothing
  toolexec call read_file '{"path":"README.md"}'
  toolexec tools schema --for anthropic   the tools of a request
  toolexec doctor                         what works on this machine
`;

/**
 * Runs the named command. Only its file is loaded, so help does not wait for an executor.
 * @throws UsageError for an unknown command, argument or option.
 */
export async function runProgram(context: CliContext): Promise<number> {
  let code = 0;
  const { args } = context.stdio;
  const program = createProgram(context);
  await addCommands(program, COMMANDS, args, (command, { define }) =>
    define(command, context, (outcome) => {
      code = outcome;
    }),
  );
  try {
    await program.parseAsync(inOrder(program, helpInside(program, args)), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw new UsageError(explain(error, program, args), { cause: error });
  }
  return code;
}

function createProgram({ stdio: { stdout }, version }: CliContext): Command {
  return (
    new Command('toolexec')
      .description('Runs the tool calls a language model asks for, and answers each of them exactly once.')
      .version(version, '--version', 'print the version')
      .helpOption('--help', 'show this help')
      .helpCommand('help [command]', 'show the help of a command')
      .addHelpText('before', EXAMPLES)
      .exitOverride()
      // main.ts reports an error once, in one line.
      .configureOutput({ writeOut: (text) => stdout.write(text), writeErr() {}, outputError() {} })
  );
}

type Loaded = Awaited<ReturnType<CommandRow['load']>>;

/** Adds every command with its name and summary, and defines the named one. */
async function addCommands(
  parent: Command,
  rows: readonly (CommandRow | CommandGroup)[],
  words: readonly string[],
  define: (command: Command, loaded: Loaded) => void,
): Promise<void> {
  const { names, rest } = splitNames(words);
  for (const row of rows) {
    const hidden = 'hidden' in row && row.hidden === true;
    const command = parent.command(row.name, { hidden }).summary(row.summary);
    const isNamed = names.includes(row.name);
    if ('commands' in row) {
      if (row.examples.length > 0)
        command.addHelpText(
          'before',
          `Examples:\n${row.examples.map((example) => `  ${example}\n`).join('')}`,
        );
      await addCommands(command, row.commands, isNamed ? rest : [], define);
      const isAlone = isNamed && !row.commands.some(({ name }) => name === rest[0]);
      if (isAlone && row.load !== undefined) define(command, await row.load());
    } else if (isNamed) {
      define(command, await row.load());
    }
  }
}

/** The first word names a command; `help` and `complete` are followed by the command they are about. */
function splitNames(words: readonly string[]): {
  readonly names: readonly string[];
  readonly rest: readonly string[];
} {
  const at = words.findIndex((word) => !['help', 'complete', '--'].includes(word));
  return at === -1
    ? { names: words, rest: [] }
    : { names: words.slice(0, at + 1), rest: words.slice(at + 1) };
}

/** `help tools show` as `tools help show`: the parser takes one name after `help`. */
function helpInside(program: Command, words: readonly string[]): readonly string[] {
  const [word, group = '', inner = '', ...rest] = words;
  const isGroup = program.commands.some((one) => one.name() === group && one.commands.length > 0);
  return word === 'help' && isGroup && /^[^-]/.test(inner) ? [group, word, inner, ...rest] : words;
}

/** Puts a command's own arguments before its options. Words to complete are unchanged. */
function inOrder(command: Command, words: readonly string[]): string[] {
  const [name, ...rest] = words;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  if (inner === undefined || inner.name() === 'complete') return [...words];
  const ordered = inner.commands.length > 0 ? inOrder(inner, rest) : separateArguments(rest, inner);
  return [inner.name(), ...ordered];
}

/** The innermost command in the words. */
function namedCommand(command: Command, words: readonly string[]): Command {
  const [name, ...rest] = words;
  const inner = command.commands.find((candidate) => candidate.name() === name);
  return inner === undefined ? command : namedCommand(inner, rest);
}

function explain(error: CommanderError, program: Command, args: readonly string[]): string {
  const words = helpInside(program, args);
  const command = namedCommand(program, words);
  const afterHelp = words.slice(0, 2).includes('help') ? words[words.indexOf('help') + 1] : undefined;
  if (error.code === 'commander.help' && afterHelp !== undefined) return unknownCommand(afterHelp, command);
  const [first] = command.args;
  // A group that has an action takes no arguments.
  const isNameless = error.code === 'commander.excessArguments' && command.commands.length > 0;
  return isNameless && first !== undefined ? unknownCommand(first, command) : toOneLine(error, command);
}

function unknownCommand(word: string, command: Command): string {
  const nearest = nearestName(
    word,
    command.commands.map((inner) => inner.name()).filter((name) => name !== 'complete'),
  );
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return `Unknown command '${word}'.${hint} See ${fullName(command)} --help.`;
}

function toOneLine(error: CommanderError, command: Command): string {
  const see = `See ${fullName(command)} --help.`;
  if (error.code === 'commander.help') {
    const names = command.commands.map((inner) => inner.name()).filter((name) => name !== 'complete');
    const what = command.parent === null ? 'Name a command' : `Name a subcommand of ${fullName(command)}`;
    return `${what}: ${names.slice(0, -1).join(', ')} or ${names.at(-1)}. ${see}`;
  }
  const [problem = '', ...hints] = error.message.replace(/^error: /, '').split('\n');
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1).replace(/\.?$/, '.');
  // A suggestion is in brackets: (Did you mean --json?)
  return [sentence, ...hints.map((hint) => hint.replace(/^\(|\)$/g, '')), see].join(' ');
}

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
