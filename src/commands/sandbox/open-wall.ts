import { basename } from 'node:path';
import type { CommandRequest, Confinement, GuardedPaths } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { entryStat } from '../../platform/fs-entry.js';
import { openReportFile, type ReportFile } from '../../platform/report-file.js';
import type { ProcessStart } from '../../platform/spawn.js';
import { holdStandIn, isStandIn } from '../../platform/stand-in.js';
import { limitLines } from '../limits/limit-program.js';
import { bubblewrapArguments, emptyHome } from './bubblewrap-arguments.js';
import type { CommandEntry } from './command-entry.js';
import { personalGitFiles } from './git/personal-settings.js';
import { settleRepository } from './git/settle-repository.js';
import { guardMounts } from './guard-mounts.js';
import { type MountHolder, openMountHolder, PlaceChanged } from './mount-holder.js';
import { endToldBy, readReport } from './read-report.js';
import { walledProgram } from './walled-program.js';

export interface WalledCommand {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'limits'>;
  readonly confinement: Confinement;
  readonly bubblewrap: Bubblewrap;
  readonly shellFile: string;
}

export interface Bubblewrap {
  /** Absolute. */
  readonly file: string;
  /** It takes descriptors for what it mounts. */
  readonly byDescriptor: boolean;
}

/**
 * Makes ready what a command inside the wall needs. To be closed, started or not.
 * @throws ToolError `spawn_failed` where the roots change faster than a wall can be built.
 */
export function openWall({ request, confinement, bubblewrap, shellFile }: WalledCommand): CommandEntry {
  const { shell, command, cwd } = request;
  const built = mountAll(confinement, bubblewrap.byDescriptor);
  const env = withGit(built.git, {
    ...request.env,
    ...(request.env.TMPDIR === undefined ? {} : { TMPDIR: '/tmp' }),
  });
  const home = emptyHome(env.HOME, confinement.roots);
  const report = openReportFile();
  const limits = limitLines(request.limits ?? {}, true);
  const settings = home === undefined ? [] : personalGitFiles(request.env, home);
  const inside = walledProgram({ limits, isReported: report !== undefined, settings });
  // The last is what `$0` says.
  const program = ['/bin/sh', '-c', inside, 'toolexec', shellFile, '-c', command, shell];
  const args = bubblewrapArguments({ confinement, mounts: built.mounts, home, env, cwd, program });
  return {
    start: { file: bubblewrap.file, name: 'bwrap', args, places: built.places, ...reportTo(report) },
    env,
    read: (end) => readReport(end, report?.read()),
    told: () => endToldBy(report?.read()),
    close() {
      report?.close();
      built.close();
    },
  };
}

function reportTo(report: ReportFile | undefined): Pick<ProcessStart, 'report'> {
  return report === undefined ? {} : { report: report.fd };
}

/** Settings that hold for every git that the command starts, besides those that it has been given so already. */
function withGit(
  settings: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const entries = Object.entries(settings);
  if (entries.length === 0) return env;
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const variables = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(variables), GIT_CONFIG_COUNT: `${first + entries.length}` };
}

interface Built {
  readonly mounts: readonly string[];
  readonly git: Readonly<Record<string, string>>;
  readonly places: readonly number[];
  readonly close: () => void;
}

/** Commands that run beside may rename what was just looked at: then it is looked at again. */
const MOST_LOOKS = 5;

function mountAll(confinement: Confinement, byDescriptor: boolean): Built {
  for (let look = 1; ; look++) {
    const holder = openMountHolder(byDescriptor);
    const releases: (() => void)[] = [];
    const close = (): void => {
      holder.close();
      for (const release of releases.splice(0)) release();
    };
    try {
      return mountOnce(confinement, holder, releases);
    } catch (error) {
      close();
      if (!(error instanceof PlaceChanged)) throw error;
      if (look === MOST_LOOKS) throw cannotMount(error);
    }
  }
}

function mountOnce({ roots, guarded }: Confinement, holder: MountHolder, releases: (() => void)[]): Built {
  const found = guarded();
  const standIns = holdStandIns(found, releases);
  const readOnly = found.readOnly.filter(({ path }) => !standIns.has(path));
  const rootMounts = roots.filter((root) => root !== '/').flatMap((root) => holder.writable(root));
  const { mounts, git, afterwards } = guardMounts({ ...found, readOnly }, roots, standIns, holder);
  return {
    mounts: [...rootMounts, ...mounts],
    git,
    places: holder.places(),
    close() {
      afterwards();
      holder.close();
      for (const release of releases.splice(0)) release();
    },
  };
}

/** What must not be made while a command runs gets a stand-in that can be covered: by path, what covers it. */
function holdStandIns(guarded: GuardedPaths, releases: (() => void)[]): ReadonlyMap<string, string> {
  // Other programs of ours have their commands in the same roots.
  const others = guarded.readOnly.filter(({ path }) => basename(path) === '.git' && isStandIn(path));
  const held = new Map<string, string>();
  for (const path of [...guarded.missing, ...others.map((other) => other.path)]) {
    const standIn = holdStandIn(path, settleRepository);
    if (standIn !== undefined) {
      held.set(path, standIn.inner);
      releases.push(standIn.release);
    } else if (entryStat(path) !== undefined) throw new PlaceChanged(path);
    // Else nobody can make it: the directory is read-only.
  }
  return held;
}

function cannotMount({ path, message }: PlaceChanged): ToolError {
  return new ToolError(
    'spawn_failed',
    `Cannot start a command in the OS sandbox: ${message}. Nothing was run. Try again when nothing else changes it.`,
    { details: { path } },
  );
}
