/** The checks of this machine, one per part. */

import { relative, resolve } from 'node:path';
import { covers } from '../../base/covers.js';
import { describeHomeRoot, HOME_REMEDY, type ResolvedConfig } from '../../config/resolve-config.js';
import { isToolError } from '../../errors/tool-error.js';
import type { ExecutorOptions } from '../../executor/executor-options.js';
import { sandboxStrength } from '../../files/sandbox-strength.js';
import { findJournalLoss } from '../../journal/verify-journal.js';
import { targetOf } from '../../platform/fs/fs-entry.js';
import { probePlace, realPlace } from '../../platform/fs/probe-place.js';
import { homeOf, nodeVersion } from '../../platform/runtime/environment.js';
import { openKeyboard } from '../../platform/runtime/open-keyboard.js';
import { REACH_REMEDY, reachOfOthers } from '../../platform/runtime/own-place.js';
import { openSqlite } from '../../platform/sqlite/sqlite.js';
import type { CliContext } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { isAutomated } from '../display/display.js';
import { furtherProblems } from '../exit-code.js';
import { type ConfigOptions, journalPlace, resolveSettings } from '../resolve-settings.js';

export interface Check {
  readonly name: string;
  /** `broken`: no call can run. `missing`: some feature works less well, or not at all. */
  readonly state: 'ok' | 'missing' | 'broken';
  /** The finding. */
  readonly found: string;
  /** More findings of the same kind, one per line. */
  readonly further?: readonly string[];
  /** The consequence and the remedy; present unless the state is `ok`. */
  readonly costs?: string;
  readonly remedy?: string;
}

const LEAST = [20, 19];

export function checkNode(): Check {
  const version = nodeVersion();
  if (isEnough(version)) return { name: 'node', state: 'ok', found: version };
  return {
    name: 'node',
    state: 'broken',
    found: version,
    costs: `toolexec needs Node ${LEAST.join('.')} or newer.`,
    remedy: 'Install a current Node: https://nodejs.org',
  };
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** The profile: not part of the machine, but the most important fact. */
export function checkProfile({
  profile,
  sandbox = {},
}: Pick<ExecutorOptions, 'profile' | 'sandbox'> = {}): Check {
  if (profile !== 'contained') {
    const found =
      'none: commands are asked about before they run (profile = "contained" under [tools]: when they have ended)';
    return { name: 'profile', state: 'ok', found };
  }
  const { os = 'required', network = false, transactions = 'auto' } = sandbox;
  if (os === 'required' && !network && transactions !== 'off')
    return {
      name: 'profile',
      state: 'ok',
      found: 'contained: commands run unasked, and are asked about when they have ended',
    };
  return {
    name: 'profile',
    state: 'missing',
    found: 'contained, and [tools.sandbox] does not contain commands',
    costs: 'Commands are asked about before they run.',
    remedy: 'Leave os, network and transactions out of [tools.sandbox].',
  };
}

/** Opens a database in memory, because an installed driver may not load. */
export function checkSqlite(): Check {
  try {
    const database = openSqlite(':memory:');
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    database.close();
    return { name: 'sqlite', state: 'ok', found: String(row?.version) };
  } catch (error) {
    return {
      name: 'sqlite',
      state: 'broken',
      found: `it cannot be loaded: ${firstLine(error)}`,
      costs: 'Nothing can be recorded, so the command runs no call.',
      remedy: 'Install toolexec again for this machine, with its optional packages, or use Node 24.',
    };
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}

const LITTLE_BYTES = 64 * 1024 * 1024;

/** Whether the journal of a run is writable. Creates none. */
export function checkJournal(named: string | undefined, roots: readonly string[]): Check {
  let path: string;
  try {
    path = journalPlace(named, roots);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return broken(error.message, 'Choose another place with --journal, or smaller roots.');
  }
  const place = probePlace(path);
  const found = `${path}${place.exists ? '' : ' (created by the first call)'}`;
  if (!place.writable)
    return broken(`${found} cannot be written: ${place.reason}`, 'Make its directory writable for you.');
  const reach = reachOfOthers(path);
  if (reach !== undefined) return broken(`other users could replace ${path}: ${reach}`, REACH_REMEDY);
  let lost: string | undefined;
  try {
    lost = findJournalLoss(path);
  } catch (error) {
    if (!isToolError(error)) throw error;
    return broken(error.message, 'Choose another place with --journal.');
  }
  if (lost !== undefined) {
    return missing(
      `${path} has lost records: ${lost}`,
      'Calls that had run may run again.',
      'Restore the newest copy; or accept its current state: toolexec journal verify --accept.',
    );
  }
  if (place.freeBytes !== undefined && place.freeBytes < LITTLE_BYTES) {
    return missing(
      `${found}: ${place.freeBytes} bytes are left on its disk`,
      'Calls are refused when the disk is full.',
      'Free disk space.',
    );
  }
  if (place.readableByOthers) {
    return missing(
      `${found} can be read by others`,
      'It holds arguments and results of every call.',
      `chmod 600 ${JSON.stringify(path)}`,
    );
  }
  return { name: 'journal', state: 'ok', found };
}

function broken(found: string, remedy: string): Check {
  return {
    name: 'journal',
    state: 'broken',
    found,
    costs: 'A call that cannot be recorded does not run.',
    remedy,
  };
}

function missing(found: string, costs: string, remedy: string): Check {
  return { name: 'journal', state: 'missing', found, costs, remedy };
}

interface ConfigurationCheck {
  readonly check: Check;
  /** Undefined if it is invalid. */
  readonly resolved: ResolvedConfig | undefined;
}

export function checkConfiguration(
  options: ConfigOptions,
  context: Pick<CliContext, 'env'>,
): ConfigurationCheck {
  try {
    const resolved = resolveSettings(options, context);
    return { check: checkResolved(resolved), resolved };
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    const remedy = 'Correct it; toolexec config schema helps an editor.';
    const costs = 'No command runs with it.';
    const further = furtherProblems(error);
    return {
      check: { name: 'configuration', state: 'broken', found: error.message, further, costs, remedy },
      resolved: undefined,
    };
  }
}

function checkResolved({ project, userFile, administratorFile, ignored }: ResolvedConfig): Check {
  const own = [project?.file, userFile].filter((file) => file !== undefined);
  const files = [
    ...own.map((file) => relative(resolve('.'), file)),
    ...(administratorFile === undefined ? [] : [`${administratorFile} (the administrator's)`]),
  ];
  const found = files.length === 0 ? 'defaults' : files.join(', ');
  if (ignored.length === 0) return { name: 'configuration', state: 'ok', found };
  return {
    name: 'configuration',
    state: 'missing',
    found: `${found}: ${ignored.length} settings are not applied`,
    costs: `A project that is not trusted may only tighten: ${ignored.map(({ key }) => key).join(', ')}.`,
    remedy: 'Look at the file, then: toolexec config trust',
  };
}

/** A root must be a directory. Warns about one that contains the home directory. */
export function checkRoots(roots: readonly string[], env: CliContext['env']): Check {
  const home = realPlace(homeOf(env));
  const places = roots.map((root) => realPlace(resolve(root)));
  const found = places.join(', ');
  const wrong = places.find((root) => targetOf(root)?.isDirectory() !== true);
  if (wrong !== undefined) {
    return {
      name: 'roots',
      state: 'broken',
      found: `${wrong} is not a directory, or cannot be examined`,
      costs: 'No call is run with it.',
      remedy: 'Create it, or name another directory with --root or in allowed_roots.',
    };
  }
  const wide = places.find((root) => covers(root, home));
  if (wide === undefined) return { name: 'roots', state: 'ok', found };
  return { name: 'roots', state: 'missing', found, costs: describeHomeRoot(wide, home), remedy: HOME_REMEDY };
}

/** How well file tools are contained here. */
export function checkContainment(): Check {
  switch (sandboxStrength()) {
    case 'pinned':
      return { name: 'file containment', state: 'ok', found: 'every path is walked on pinned descriptors' };
    case 'verified':
      return {
        name: 'file containment',
        state: 'missing',
        found: 'files are opened, then their real place is verified',
        costs: 'A program that swaps links while a tool works can win the race.',
        remedy: 'If programs that you do not trust share the workspace, run on Linux with /proc mounted.',
      };
    default:
      return {
        name: 'file containment',
        state: 'broken',
        found: 'this system reports nothing about open files',
        costs: 'No file tool can be kept inside the roots, so none runs.',
        remedy: 'Mount /proc.',
      };
  }
}

/** Whether a person can be asked. */
export function checkTerminal({ stdio, env }: Pick<CliContext, 'stdio' | 'env'>): Check {
  const why = whyNobodyIsThere(stdio.stderr.isTerminal, env);
  if (why === undefined) return { name: 'terminal', state: 'ok', found: 'you can be asked for approval' };
  return {
    name: 'terminal',
    state: 'missing',
    found: why,
    costs: 'No person can be asked: calls that need approval are answered approval_unavailable.',
    remedy: 'Use --yes, --approve ID or --deny, or allow them in a configuration.',
  };
}

function whyNobodyIsThere(isTerminal: boolean, env: CliContext['env']): string | undefined {
  if (isAutomated(env)) return 'CI is set';
  if (!isTerminal) return 'standard error is not a terminal';
  const keyboard = openKeyboard();
  keyboard?.close();
  return keyboard === undefined ? 'no keyboard belongs to this process' : undefined;
}
