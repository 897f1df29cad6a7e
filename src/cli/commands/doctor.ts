import { resolve } from 'node:path';
import { isPostgresAddress } from '../../journal/postgres/address.js';
import { sanitize } from '../../output/sanitize.js';
import { nodeVersion, systemName } from '../../platform/runtime/environment.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import type { Palette } from '../display/terminal-text.js';
import { createPalette, writeJson } from '../display/terminal-text.js';
import type { Check } from '../doctor/check-machine.js';
import {
  checkConfiguration,
  checkContainment,
  checkJournal,
  checkNode,
  checkProfile,
  checkRoots,
  checkSqlite,
  checkTerminal,
} from '../doctor/check-machine.js';
import {
  checkBubblewrap,
  checkProgram,
  checkRipgrep,
  checkShell,
  checkTransactions,
  GIT,
} from '../doctor/check-programs.js';

/** The options of `doctor`, in commander's form. */
interface DoctorOptions {
  readonly config?: string;
  readonly journal?: string;
  readonly root?: readonly string[];
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Tests everything that toolexec depends on, and says for each missing part what does not work and how to get it. ' +
        'Changes nothing.',
    )
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal that would be used, or the address of one in Postgres')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec doctor\n  toolexec doctor --json\n  toolexec doctor --journal postgres://HOST/DATABASE\n',
    )
    .addHelpText('after', '\nExit code: 0 calls can be run; 1 something that every call needs is broken.\n')
    .action(async (options: DoctorOptions) => {
      finish(await examineMachine(options, context));
    });
};

/** `toolexec doctor`: the features that work on this machine, and how to get the others. */
export async function examineMachine(options: DoctorOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env, version } = context;
  const checks = await runChecks(options, context);
  const ok = checks.every(({ state }) => state !== 'broken');
  if (options.json === true) {
    writeJson(stdio.stdout, { ok, version, node: nodeVersion(), system: systemName(), checks });
  } else {
    stdio.stdout.write(`toolexec ${version} on ${systemName()}\n\n`);
    stdio.stdout.write(describeChecks(checks, createPalette(stdio.stdout.isTerminal, env)));
  }
  return ok ? 0 : 1;
}

async function runChecks(options: DoctorOptions, context: CliContext): Promise<readonly Check[]> {
  const env = defined(context.env);
  const { check: configuration, resolved } = checkConfiguration(options, context);
  const roots = options.root ?? resolved?.configuration.executor.root ?? ['.'];
  return [
    checkNode(),
    checkSqlite(),
    ...(await checkJournals(options.journal ?? resolved?.configuration.fleet?.url, roots)),
    configuration,
    checkProfile(resolved?.configuration.executor),
    checkRoots(roots, context.env),
    checkContainment(),
    await checkBubblewrap(resolved?.configuration.executor.sandbox),
    await checkTransactions(roots, resolved?.configuration.executor.sandbox),
    await checkRipgrep(
      roots.map((root) => resolve(root)),
      env,
    ),
    checkShell('bash', env.PATH),
    checkShell('sh', env.PATH),
    await checkProgram(GIT, env),
    checkTerminal(context),
  ];
}

async function checkJournals(named: string | undefined, roots: readonly string[]): Promise<readonly Check[]> {
  if (named === undefined || !isPostgresAddress(named)) return [checkJournal(named, roots)];
  const { checkPostgres } = await import('../doctor/check-postgres.js');
  return [await checkPostgres(named)];
}

function defined(env: CliContext['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The checks for people: passed ones in one line, others with their consequence and remedy. */
function describeChecks(checks: readonly Check[], palette: Palette): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: palette.green('✓'), missing: palette.yellow('!'), broken: palette.red('✗') };
  const texts = checks.map(({ name, state, found, further = [], costs, remedy }) =>
    [
      `${marks[state]} ${name.padEnd(width)}  ${sanitize(found, 'inline')}`,
      ...further.map((line) => `  ${' '.repeat(width)}  ${sanitize(line, 'inline')}`),
      ...(costs === undefined ? [] : [`  ${' '.repeat(width)}  ${sanitize(costs, 'inline')}`]),
      ...(remedy === undefined ? [] : [`  ${' '.repeat(width)}  → ${sanitize(remedy, 'inline')}`]),
    ].join('\n'),
  );
  return `${texts.join('\n')}\n\n${summarize(checks)}\n`;
}

function summarize(checks: readonly Check[]): string {
  const broken = checks.filter(({ state }) => state === 'broken').length;
  const missing = checks.filter(({ state }) => state === 'missing').length;
  if (broken > 0)
    return `No call can be run: ${broken} of the parts that every call needs ${broken === 1 ? 'is' : 'are'} broken.`;
  return missing === 0
    ? 'All is well.'
    : `Calls can be run; ${missing} of the parts above would improve them.`;
}
