import { resolve } from 'node:path';
import { nodeVersion, systemName } from '../../platform/runtime.js';
import type { DoctorOptions } from '../define/define-doctor.js';
import type { Check } from '../doctor/check.js';
import { checkBubblewrap } from '../doctor/check-bubblewrap.js';
import { checkConfiguration } from '../doctor/check-configuration.js';
import { checkContainment } from '../doctor/check-containment.js';
import { checkJournal } from '../doctor/check-journal.js';
import { checkNode } from '../doctor/check-node.js';
import { checkProgram, GIT } from '../doctor/check-program.js';
import { checkRipgrep } from '../doctor/check-ripgrep.js';
import { checkShell } from '../doctor/check-shells.js';
import { checkSqlite } from '../doctor/check-sqlite.js';
import { checkTerminal } from '../doctor/check-terminal.js';
import type { ExitCode } from '../exit-code.js';
import { describeChecks } from '../show/describe-checks.js';
import { createPalette } from '../show/palette.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';
import { VERSION } from '../version.js';

/** `toolexec doctor`: what works on this machine, and what to install for the rest. */
export async function examineMachine(options: DoctorOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdio, env } = surroundings;
  const checks = await runChecks(options, surroundings);
  const ok = checks.every(({ state }) => state !== 'broken');
  if (options.json === true) {
    writeJson(stdio.stdout, { ok, version: VERSION, node: nodeVersion(), system: systemName(), checks });
  } else {
    stdio.stdout.write(`toolexec ${VERSION} on ${systemName()}\n\n`);
    stdio.stdout.write(describeChecks(checks, createPalette(stdio.stdout.isTerminal, env)));
  }
  return ok ? 0 : 1;
}

async function runChecks(options: DoctorOptions, surroundings: Surroundings): Promise<readonly Check[]> {
  const env = defined(surroundings.env);
  const { check: configuration, resolved } = checkConfiguration(options, surroundings);
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
    checkTerminal(surroundings),
  ];
}

function defined(env: Surroundings['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
