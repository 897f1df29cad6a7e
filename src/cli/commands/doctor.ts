import { resolve } from 'node:path';
import { sanitize } from '../../output/sanitize.js';
import { nodeVersion, systemName } from '../../platform/runtime.js';
import type { CliContext } from '../cli-context.js';
import type { DoctorOptions } from '../define/define-doctor.js';
import type { Palette } from '../display/terminal-text.js';
import { createPalette, writeJson } from '../display/terminal-text.js';
import type { Check } from '../doctor/check-machine.js';
import {
  checkConfiguration,
  checkContainment,
  checkJournal,
  checkNode,
  checkSqlite,
  checkTerminal,
} from '../doctor/check-machine.js';
import { checkBubblewrap, checkProgram, checkRipgrep, checkShell, GIT } from '../doctor/check-programs.js';
import type { ExitCode } from '../exit-code.js';
import { VERSION } from '../version.js';

/** `toolexec doctor`: what works on this machine, and what to install for the rest. */
export async function examineMachine(options: DoctorOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const checks = await runChecks(options, context);
  const ok = checks.every(({ state }) => state !== 'broken');
  if (options.json === true) {
    writeJson(stdio.stdout, { ok, version: VERSION, node: nodeVersion(), system: systemName(), checks });
  } else {
    stdio.stdout.write(`toolexec ${VERSION} on ${systemName()}\n\n`);
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
    checkJournal(options.journal, roots),
    configuration,
    checkContainment(),
    await checkBubblewrap(resolved?.configuration.executor.sandbox),
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

function defined(env: CliContext['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** What a doctor found, for people: what is well on one line, what is not with its cost and its remedy. */
function describeChecks(checks: readonly Check[], palette: Palette): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: palette.green('✓'), missing: palette.yellow('!'), broken: palette.red('✗') };
  const texts = checks.map(({ name, state, found, costs, remedy }) =>
    [
      `${marks[state]} ${name.padEnd(width)}  ${sanitize(found, 'inline')}`,
      ...(costs === undefined ? [] : [`  ${' '.repeat(width)}  ${sanitize(costs, 'inline')}`]),
      ...(remedy === undefined ? [] : [`  ${' '.repeat(width)}  → ${sanitize(remedy, 'inline')}`]),
    ].join('\n'),
  );
  return `${texts.join('\n')}\n\n${summarize(checks)}\n`;
}

function summarize(checks: readonly Check[]): string {
  const broken = checks.filter(({ state }) => state === 'broken').length;
  const missing = checks.filter(({ state }) => state === 'missing').length;
  if (broken > 0) return `No call can be run: ${broken} of what every call needs is broken.`;
  return missing === 0
    ? 'All is well.'
    : `Calls can be run; ${missing} of the parts above would make it better.`;
}
