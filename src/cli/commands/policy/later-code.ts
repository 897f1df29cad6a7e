import { sanitize } from '../../../output/sanitize.js';
import { LATER_CODE, type LaterCodeRow } from '../../../policy/later-code/later-code-table.js';
import { RUN_IN_PART } from '../../../policy/later-code/what-runs.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createPalette, writeJson } from '../../display/terminal-text.js';
import { resolvePlanning } from '../../resolve-planning.js';
import type { ConfigOptions } from '../../resolve-settings.js';

/** The options of `policy later-code`, in commander's form. */
interface LaterCodeOptions extends ConfigOptions {
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Prints the configured paths that run later by themselves. If a command changes one of them, the change is ' +
        'asked about, even if a rule allows the command.',
    )
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec policy later-code\n  toolexec policy later-code --json\n')
    .action((options: LaterCodeOptions) => {
      finish(printLaterCode(options, context));
    });
};

/** `toolexec policy later-code`: the table in force. @throws ToolError `config_invalid` */
export function printLaterCode(options: LaterCodeOptions, context: CliContext): ExitCode {
  const { stdio, env } = context;
  const { executor } = resolvePlanning(options, context);
  const own = executor.policy?.laterCode;
  const rows = own === undefined ? LATER_CODE : rowsOf(own);
  const builtIn = rows.every((row) => LATER_CODE.includes(row)) && rows.length === LATER_CODE.length;
  if (options.json === true) writeJson(stdio.stdout, { builtIn, rows, onlyWhatRuns: inForce(rows) });
  else {
    const { bold } = createPalette(stdio.stdout.isTerminal, env);
    const from = builtIn ? 'The built-in table' : 'From later_code under [tools.approval]';
    stdio.stdout.write(`${from}:\n`);
    for (const { what, patterns } of rows) {
      stdio.stdout.write(`\n${bold(what)}\n`);
      for (const pattern of patterns) stdio.stdout.write(`  ${sanitize(pattern, 'inline')}\n`);
    }
    // Only for the built-in table.
    if (builtIn) stdio.stdout.write('\nFiles in dependency folders (node_modules, vendor …) do not count.\n');
    const partly = inForce(rows);
    if (partly.length > 0)
      stdio.stdout.write(`\nOf these only the parts count that run: ${partly.join(', ')}\n`);
  }
  return 0;
}

/** A configuration may repeat rows of the table to extend it. */
function rowsOf(own: readonly string[]): readonly LaterCodeRow[] {
  const given = new Set(own);
  const whole = LATER_CODE.filter(({ patterns }) => patterns.every((pattern) => given.has(pattern)));
  const known = new Set(whole.flatMap(({ patterns }) => patterns));
  const patterns = own.filter((pattern) => !known.has(pattern));
  return patterns.length === 0 ? whole : [...whole, { what: 'Of the configuration', patterns }];
}

function inForce(rows: readonly LaterCodeRow[]): readonly string[] {
  const named = new Set(rows.flatMap(({ patterns }) => patterns.map((pattern) => pattern.toLowerCase())));
  return RUN_IN_PART.filter((name) => named.has(name) || named.has(name.replace(/json$/, '{json,jsonc}')));
}
