import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseHostName } from '../base/parse-listen.js';
import { HISTORY_FORMATS, type HistoryFormat, listTitles } from '../providers/registry.js';
import { UsageError } from './cli-context.js';

/** The common options of `run`, `plan`, `call` and `approve`, in commander's form. */
export interface BatchOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly approveLaterCode?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The further options of `run` and `plan`. */
export interface ResponseOptions extends BatchOptions {
  readonly conversation?: string;
  readonly again?: boolean;
  readonly approve?: readonly string[];
  readonly format?: HistoryFormat;
  readonly parallel?: boolean;
  readonly failFast?: boolean;
  readonly defer?: boolean;
  readonly preview?: boolean;
}

export function addBatchOptions(command: Command): Command {
  return command
    .option(
      '--root <dir...>',
      'directories that tools may touch; the first is the working directory (default: .)',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'where calls and results are recorded; outside every root')
    .addOption(yesOption())
    .addOption(laterCodeOption())
    .addOption(new Option('--deny', 'refuse every call that needs approval').conflicts(['yes', 'approve']))
    .option('--dry-run', 'run only calls that read; the others describe what they would do')
    .option('--json', 'everything on standard error as JSON, one object per line');
}

/** `laterCodeOption` adds the cases that this option excludes. */
export function yesOption(): Option {
  return new Option(
    '--yes',
    'approve every call that needs approval, except changes to files that run later by themselves',
  ).conflicts(['approve', 'deny']);
}

export function laterCodeOption(): Option {
  return new Option(
    '--approve-later-code',
    'with --yes or --approve: also changes to files that run later by themselves (git hooks, CI files, Makefiles, scripts of ' +
      'package.json …), and changes of a command beyond its permission',
  ).conflicts(['deny']);
}

export function addResponseOptions(command: Command): Command {
  return addRunOptions(addFormatOption(addBatchOptions(command)))
    .addOption(
      new Option(
        '--preview',
        'try all calls on an overlay of the roots, show their changes, and commit all of them or none',
      ).conflicts(['dryRun', 'defer', 'approve']),
    )
    .option(
      '--conversation <id>',
      'the conversation of the calls (default: a hash of the response)',
      conversationName,
    )
    .option('--again', 'also run calls that already have an answer in the journal');
}

/** @throws InvalidArgumentError for an empty name, such as that of a variable that is not set. */
export function conversationName(text: string): string {
  if (text === '') throw new InvalidArgumentError('Write a name that is not empty.');
  return text;
}

/** The name of a host as a client sends it: in ASCII, without a port. @throws UsageError */
export function readHostName(given: string): string {
  const name = parseHostName(given);
  if (name !== undefined) return name;
  throw new UsageError(
    `Cannot use --name ${JSON.stringify(given)}: a host is expected, such as tools.example, without a scheme, port or path.`,
  );
}

/** Options for running the calls of a response. */
export function addRunOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--approve <id...>', 'approve these calls, refuse the others').conflicts(['yes', 'deny']),
    )
    .addOption(
      new Option(
        '--defer',
        'defer the calls that need approval: they wait for "toolexec approve", the others run',
      ).conflicts(['yes', 'deny', 'approve', 'dryRun']),
    )
    .option('--parallel', 'run calls in parallel if they do not touch the same things')
    .option('--fail-fast', 'after a failure, cancel the remaining calls');
}

export function addFormatOption(
  command: Command,
  description = 'the format of the results (default: the format of the calls)',
): Command {
  return command.addOption(new Option('--format <format>', description).choices(HISTORY_FORMATS));
}

/** Options of commands that read a journal. */
export function addJournalOptions(command: Command): Command {
  return command
    .option('--journal <file>', 'the journal (default: the one that run would use)')
    .option('--root <dir...>', 'the directories whose journal is used, if none is named (default: .)')
    .option('--config <file>', 'a toolexec.toml');
}

/** Help text below the options of commands that read a response. */
export const RESPONSE_HELP = `
FILE is a response of ${listTitles('or')}, one
{"id","name","args"} or an array of them, or text with \`\`\`tool blocks. Without FILE, or with -, it is read from standard
input.
`;

/** Help text below the options of commands that run calls. */
export const EXIT_CODES_HELP = `
Exit code: 0 every call succeeded, or there was none; 1 at least one failed; 2 wrong usage, input or configuration;
3 approval needed, and no person to ask; 4 a batch of this conversation waits for you; 130 interrupted.
`;
