import { basename, dirname } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/files.js';
import type { CommandRequest, Confinement } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { entryStat } from '../../platform/fs/fs-entry.js';
import { type InheritedFile, openBytes, openInherited } from '../../platform/fs/inherited-file.js';
import { holdPlaceholder, isPlaceholder } from '../../platform/process/placeholder.js';
import { openReportFile, type ReportFile } from '../../platform/process/report-file.js';
import type { ProcessEnd, ProcessStart } from '../../platform/process/spawn.js';
import { bubblewrapArguments, emptyHome } from './bubblewrap-arguments.js';
import { adoptRepository } from './git/adopt-repository.js';
import { findRepositories, type Repository } from './git/find-repositories.js';
import { personalGitFiles } from './git/personal-settings.js';
import { repositoryMounts } from './git/repository-mounts.js';
import { trackedPlaceholders } from './git/tracked-placeholders.js';
import { limitLines } from './limit-lines.js';
import { FIRST_PLACE, type MountHolder, openMountHolder, PlaceChanged } from './mount-holder.js';
import { endToldBy, readReport, type SandboxedEnd, sandboxProgram } from './sandbox-program.js';
import { syscallFilter } from './syscall-filter.js';

export interface SandboxedCommand {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'limits'>;
  readonly confinement: Confinement;
  readonly bubblewrap: Bubblewrap;
  readonly shellFile: string;
  /** Left out: it writes through. */
  readonly layers?: SandboxLayers | undefined;
}

/** Roots whose changes are kept apart. */
export interface SandboxLayers {
  /** In the order of the descriptors that `command` wants for them. */
  readonly roots: readonly string[];
  /** What stands before bubblewrap's own command line. */
  readonly command: readonly string[];
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  /** What git inside has to be told. */
  readonly git: Readonly<Record<string, string>>;
}

export interface Bubblewrap {
  /** Absolute. */
  readonly file: string;
  /** It takes descriptors for what it mounts. */
  readonly byDescriptor: boolean;
}

/**
 * Makes ready what a command inside the sandbox needs. To be closed, started or not.
 * @throws ToolError `spawn_failed` where the roots change faster than a sandbox can be built.
 */
export function openSandbox({
  request,
  confinement,
  bubblewrap,
  shellFile,
  layers,
}: SandboxedCommand): CommandEntry {
  const { shell, command, cwd } = request;
  const built = mountPatiently(bubblewrap.byDescriptor, (holder, releases) =>
    layers === undefined ? mountOnce(confinement, holder, releases) : mountLayers(layers, holder),
  );
  const env = withGit(built.git, {
    ...request.env,
    ...(request.env.TMPDIR === undefined ? {} : { TMPDIR: '/tmp' }),
  });
  const home = emptyHome(env.HOME, confinement.roots);
  const report = openReportFile();
  const limits = limitLines(request.limits ?? {}, true);
  const settings = home === undefined ? [] : personalGitFiles(request.env, home);
  const inside = sandboxProgram({ limits, isReported: report !== undefined, settings });
  // The last is what `$0` says.
  const program = [REPORTER, '-c', inside, 'toolexec', shellFile, '-c', command, shell];
  const filter = openFilter(layers === undefined);
  const reporter = openInherited('/bin/sh');
  const first = [
    ...(filter === undefined ? [] : ['--seccomp', `${FIRST_PLACE + built.places.length}`]),
    ...reporterArguments(),
  ];
  const args = bubblewrapArguments({ confinement, mounts: built.mounts, home, env, cwd, first, program });
  const [file = bubblewrap.file, ...before] = layers?.command ?? [];
  const line =
    layers === undefined
      ? { file, name: 'bwrap', args }
      : { file, name: 'unshare', args: [...before, bubblewrap.file, ...args] };
  return {
    start: {
      ...line,
      ...{ input: reporter.fd, keepsInput: true },
      ...{ places: built.places, files: filter === undefined ? [] : [filter.fd] },
      ...reportTo(report),
    },
    env,
    read: (end) => readReport(end, report?.read()),
    told: () => endToldBy(report?.read()),
    close() {
      for (const open of [report, filter, reporter]) open?.close();
      built.close();
    },
  };
}

/**
 * The shell that reports what becomes of the command is a copy that no process may read: so the kernel lets none trace
 * it either, look into its memory, or write to what it has open.
 */
const REPORTER = '/dev/toolexec/sh';

function reporterArguments(): readonly string[] {
  return ['--dir', dirname(REPORTER), '--perms', '0111', '--file', '0', REPORTER];
}

/** @param dropsModes else what it makes is looked at before it is real */
function openFilter(dropsModes: boolean): InheritedFile | undefined {
  const bytes = dropsModes ? STRICT_FILTER : FILTER;
  return bytes === undefined ? undefined : openBytes(bytes);
}

const STRICT_FILTER = syscallFilter(true);
const FILTER = syscallFilter(false);

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

function mountPatiently(
  byDescriptor: boolean,
  mount: (holder: MountHolder, releases: (() => void)[]) => Built,
): Built {
  for (let look = 1; ; look++) {
    const holder = openMountHolder(byDescriptor);
    const releases: (() => void)[] = [];
    const close = (): void => {
      holder.close();
      for (const release of releases.splice(0)) release();
    };
    try {
      return mount(holder, releases);
    } catch (error) {
      close();
      if (!(error instanceof PlaceChanged)) throw error;
      if (look === MOST_LOOKS) throw cannotMount(error);
    }
  }
}

/** What is hidden and what is guarded, the layers know. */
function mountLayers({ roots, mounts, git }: SandboxLayers, holder: MountHolder): Built {
  for (const root of roots) holder.inherit(root);
  return { mounts, git, places: holder.places(), close: () => holder.close() };
}

function mountOnce({ roots, guarded }: Confinement, holder: MountHolder, releases: (() => void)[]): Built {
  const found = guarded();
  const placeholders = holdPlaceholders(found, releases);
  const readOnly = found.readOnly.filter(({ path }) => !placeholders.has(path));
  const rootMounts = roots.filter((root) => root !== '/').flatMap((root) => holder.writable(root));
  const { mounts, git, afterwards } = guardMounts({ ...found, readOnly }, roots, placeholders, holder);
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

/** What must not be made while a command runs gets a placeholder that can be covered: by path, what covers it. */
function holdPlaceholders(guarded: GuardedPaths, releases: (() => void)[]): ReadonlyMap<string, string> {
  // Other programs of ours have their commands in the same roots.
  const others = guarded.readOnly.filter(({ path }) => basename(path) === '.git' && isPlaceholder(path));
  const held = new Map<string, string>();
  for (const path of [...guarded.missing, ...others.map((other) => other.path)]) {
    const placeholder = holdPlaceholder(path, adoptRepository);
    if (placeholder !== undefined) {
      held.set(path, placeholder.inner);
      releases.push(placeholder.release);
    } else if (entryStat(path) !== undefined) throw new PlaceChanged(path);
    // Else no command can make it: the directory is read-only.
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

/** How a command is started, and what the end of the process says of it. */
export interface CommandEntry {
  readonly start: Pick<ProcessStart, 'file' | 'name' | 'args' | 'report' | 'places'>;
  readonly env: Readonly<Record<string, string>>;
  readonly read: (end: ProcessEnd) => SandboxedEnd;
  /** How the process has ended, once no process has its output open; undefined where only the system can say so. */
  readonly told: () => ProcessEnd | undefined;
  readonly close: () => void;
}

interface GuardMounts {
  readonly mounts: readonly string[];
  /** What git inside has to be told. */
  readonly git: Readonly<Record<string, string>>;
  /** To be called when the command has ended, and while the holder is open. */
  readonly afterwards: () => void;
}

/**
 * Mounts over what lies inside the roots and is not for commands: empty where it is secret, read-only where it is code.
 * @param placeholders directories that commands may fill in the place of others, by the path of those
 * @throws PlaceChanged where something is not what it was when it was looked at
 */
function guardMounts(
  { hidden, readOnly }: Omit<GuardedPaths, 'missing'>,
  roots: readonly string[],
  placeholders: ReadonlyMap<string, string>,
  holder: MountHolder,
): GuardMounts {
  const repositories = findRepositories(readOnly, roots);
  const isOwn = ({ path, type }: GuardedPath): boolean => type === 'dir' && basename(path) === '.git';
  const git = [
    ...readOnly.filter(isOwn).map(({ path }) => repositoryMounts(path, false, roots, holder)),
    ...outside(repositories).map(({ common, directory }) =>
      repositoryMounts(common, directory !== common, roots, holder),
    ),
  ];
  const tracked = trackedPlaceholders(repositories, hidden);
  return {
    mounts: [
      ...readOnly.filter((entry) => !isOwn(entry)).flatMap(({ path }) => holder.readOnly(path)),
      ...git.flatMap(({ mounts }) => mounts),
      ...[...placeholders].flatMap(([path, inner]) => holder.writable(inner, path)),
      ...tracked.mounts,
      // Later, so that what is secret within what may be read stays secret.
      ...hidden.flatMap((entry) => tracked.mountOf(entry) ?? empty(entry)),
    ],
    git: tracked.env,
    afterwards() {
      for (const repository of git) repository.afterwards();
    },
  };
}

/** Two roots may be working trees of one. */
function outside(repositories: readonly Repository[]): readonly Repository[] {
  const byCommon = new Map(repositories.filter(({ isOutside }) => isOutside).map((one) => [one.common, one]));
  return [...byCommon.values()];
}

function empty({ path, type }: GuardedPath): readonly string[] {
  return type === 'dir' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path];
}
