import { basename, dirname } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/files.js';
import type { CommandRequest, Confinement } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { entryStat } from '../../platform/fs/fs-entry.js';
import { type InheritedFile, openBytes, openInherited, openText } from '../../platform/fs/inherited-file.js';
import { makePrivateDirectories } from '../../platform/fs/make-and-remove.js';
import { holdPlaceholder, isPlaceholder } from '../../platform/process/placeholder.js';
import { openReportFile, type ReportFile } from '../../platform/process/report-file.js';
import type { ProcessEnd, ProcessStart } from '../../platform/process/spawn.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { bubblewrapArguments, emptyHome, inMemory } from './bubblewrap-arguments.js';
import { adoptRepository } from './git/adopt-repository.js';
import type { CommittedFile } from './git/committed-versions.js';
import { personalGitFiles } from './git/personal-settings.js';
import { guardIncomplete } from './guard-incomplete.js';
import { type GuardMounts, type GuardWatch, guardMounts } from './guard-mounts.js';
import { limitLines } from './limit-lines.js';
import { FIRST_PLACE, isWithin, type MountHolder, openMountHolder, PlaceChanged } from './mount-holder.js';
import { FEW_MOUNTS, mountTable } from './mount-table.js';
import { OFFLINE_ENVIRONMENT } from './offline-environment.js';
import { offlineNames } from './offline-names.js';
import { type OutsidePlaces, openOutside } from './outside-places.js';
import type { Room } from './room.js';
import {
  endToldBy,
  onOwnTerminal,
  readReport,
  type SandboxedEnd,
  sandboxProgram,
} from './sandbox-program.js';
import { syscallFilter } from './syscall-filter.js';

export interface SandboxedCommand {
  readonly request: Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'limits' | 'attached'>;
  readonly confinement: Confinement;
  readonly bubblewrap: Bubblewrap;
  readonly shellFile: string;
  /** Left out: it writes through. */
  readonly layers?: SandboxLayers | undefined;
  /** What is shown in the place of hidden files that git tracks, to one that writes through; undefined: not known. */
  readonly committed?: readonly CommittedFile[] | undefined;
  /** Whose network it has; left out: one for itself, if the network is off. */
  readonly room?: Room | undefined;
  /** It is started before its command is known, and waits on its standard input for `orderFor` that. */
  readonly isAhead?: boolean;
  /** Its end is not looked at. */
  readonly isBackground?: boolean;
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
  /** A directory for what is written outside of the roots; it is removed with the layers. */
  readonly outside: string;
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
export function openSandbox(sandboxed: SandboxedCommand): CommandEntry {
  const { confinement, bubblewrap, layers, committed } = sandboxed;
  const built = mountPatiently(bubblewrap.byDescriptor, (holder, releases) =>
    layers === undefined
      ? mountOnce({ confinement, committed }, holder, releases)
      : mountLayers(layers, holder),
  );
  try {
    return entryOf({ ...sandboxed, built });
  } catch (error) {
    built.close();
    throw error;
  }
}

function entryOf({
  request,
  confinement,
  bubblewrap,
  shellFile,
  layers,
  isAhead = false,
  isBackground = false,
  room,
  built,
}: SandboxedCommand & { readonly built: Built }): CommandEntry {
  const { shell, command, cwd, attached } = request;
  const env = withGit(built.git, {
    ...request.env,
    ...(confinement.network ? {} : OFFLINE_ENVIRONMENT),
    ...(request.env.TMPDIR === undefined ? {} : { TMPDIR: '/tmp' }),
  });
  const home = emptyHome(env.HOME, confinement.roots);
  const report = openReportFile();
  const limits = limitLines(request.limits ?? {}, true);
  const settings = home === undefined ? [] : personalGitFiles(request.env, home);
  const outside = isBackground ? undefined : openOutside({ confinement, layers, home, given: settings });
  const isInputTaken = isAhead || attached !== undefined;
  const isAlone = room === undefined && !confinement.network;
  const inside = sandboxProgram({
    ...{ limits, isReported: report !== undefined, settings, isAhead, isCounted: isAlone },
    keepsInput: attached !== undefined,
  });
  // The last is what `$0` says.
  const started = [shellFile, ...(isAhead ? [] : ['-c', command]), shell];
  const program = [
    ...[REPORTER, '-c', inside, 'toolexec'],
    ...(attached?.kind === 'terminal' ? onOwnTerminal(started, env) : started),
  ];
  // In the root of everything they would be written to the machine.
  const isGiven = !confinement.network && !confinement.roots.includes('/');
  const names = (isGiven ? offlineNames(room?.hasLoopback6) : []).map(
    ({ text, arguments: argumentsFor }) => ({
      file: openText(text),
      argumentsFor,
    }),
  );
  const opened = [
    ...(built.table === undefined ? [] : [openText(built.table)]),
    ...openFilter(layers === undefined),
    ...names.map(({ file }) => file),
  ];
  const reporter = openInherited('/bin/sh');
  const firstAt = FIRST_PLACE + built.places.length;
  const filterAt = firstAt + (built.table === undefined ? 0 : 1);
  const first = [
    ...(FILTER === undefined ? [] : ['--seccomp', `${filterAt}`]),
    ...names.flatMap(({ file, argumentsFor }) => argumentsFor(firstAt + opened.indexOf(file))),
    ...reporterArguments(isInputTaken ? firstAt + opened.length : 0),
  ];
  const isInRoom = room !== undefined;
  const isRootBefore = isInRoom && built.command.length === 0;
  const mounts = isRootBefore ? [...ownIdArguments(), ...built.mounts] : built.mounts;
  const empty = outside?.mounts ?? inMemory(home);
  const args = bubblewrapArguments({
    ...{ confinement, mounts, empty, env, cwd, isInRoom, first, program },
    beyond: (isTaken) => outside?.beyond(isTaken) ?? [],
  });
  const places = outside?.placesFor(args);
  const [file = bubblewrap.file, ...rest] = [
    ...(room?.command ?? []),
    ...built.command,
    bubblewrap.file,
    ...args,
  ];
  return {
    start: {
      ...{ file, name: basename(file), args: rest },
      ...(isInputTaken ? {} : { input: reporter.fd, keepsInput: true }),
      ...{
        places: built.places,
        files: [...opened, ...(isInputTaken ? [reporter] : [])].map(({ fd }) => fd),
      },
      ...(attached === undefined ? {} : { attached: attached.output ?? 'output' }),
      ...reportTo(report),
    },
    env,
    incomplete: built.incomplete,
    ...(built.watch === undefined ? {} : { watch: built.watch }),
    ...(places === undefined ? {} : { outside: places }),
    read: (end) => readReport(end, report?.read()),
    exitStatus: () => endToldBy(report?.read()),
    close() {
      for (const open of [report, reporter, ...opened]) open?.close();
      places?.remove();
      built.close();
    },
  };
}

/**
 * The shell that reports what becomes of the command is a copy that no process may read: so the kernel lets none trace
 * it either, look into its memory, or write to what it has open.
 */
const REPORTER = '/dev/toolexec/sh';

/** @param descriptor that it is read from */
function reporterArguments(descriptor: number): readonly string[] {
  return ['--dir', dirname(REPORTER), '--perms', '0111', '--file', `${descriptor}`, REPORTER];
}

/** The command runs as the user again, below a user namespace in which it would be root. */
function ownIdArguments(): readonly string[] {
  const { uid, gid } = ownIds();
  return ['--uid', `${uid}`, '--gid', `${gid}`];
}

/** @param dropsModes else what it makes is looked at before it is real */
function openFilter(dropsModes: boolean): readonly InheritedFile[] {
  const bytes = dropsModes ? STRICT_FILTER : FILTER;
  return bytes === undefined ? [] : [openBytes(bytes)];
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
  return {
    // To look at the state of a repository does not write its index, which others may be writing too.
    GIT_OPTIONAL_LOCKS: '0',
    ...env,
    ...Object.fromEntries(variables),
    GIT_CONFIG_COUNT: `${first + entries.length}`,
  };
}

interface Built {
  /** What stands before bubblewrap's own command line, if anything does. */
  readonly command: readonly string[];
  /** What that reads. */
  readonly table?: string;
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  readonly git: Readonly<Record<string, string>>;
  /** Not everything is guarded that should be. */
  readonly incomplete: boolean;
  /** Left out: what it changes is looked at before it is real. */
  readonly watch?: GuardWatch;
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
function mountLayers({ roots, command, mounts, git }: SandboxLayers, holder: MountHolder): Built {
  for (const root of roots) holder.inherit(root);
  const places = holder.places();
  return { command, mounts, git, incomplete: false, places, close: () => holder.close() };
}

function mountOnce(
  { confinement, committed }: Pick<SandboxedCommand, 'confinement' | 'committed'>,
  holder: MountHolder,
  releases: (() => void)[],
): Built {
  const { os, roots, guarded } = confinement;
  const found = guarded();
  const incomplete = found.incomplete || confinement.ledByLink?.() === true;
  if (incomplete && os === 'required') throw guardIncomplete();
  const placeholders = holdPlaceholders(found, releases);
  const guardedCode = found.readOnly.filter(({ path }) => !placeholders.has(path));
  const readOnly = [...guardedCode, ...ownDirectories(confinement, [...guardedCode, ...found.hidden])];
  const guards = guardMounts({ ...found, readOnly }, confinement, placeholders, holder, committed);
  const given = guards.mounts.length > FEW_MOUNTS ? tableOf(roots, guards, holder) : undefined;
  return {
    ...(given ?? argumentsOf(roots, guards, holder)),
    git: guards.git,
    incomplete,
    places: holder.places(),
    watch: guards.watch,
    close() {
      guards.watch.end();
      holder.close();
      for (const release of releases.splice(0)) release();
    },
  };
}

/** What is ours is guarded also where it is not there yet: else a command could make it. */
function ownDirectories({ own = [] }: Confinement, guarded: readonly GuardedPath[]): readonly GuardedPath[] {
  const missing = own.filter((directory) => !guarded.some(({ path }) => isWithin(directory, path)));
  for (const directory of missing) makePrivateDirectories(directory);
  return missing.map((path) => ({ path, type: 'dir' }));
}

type Guards = Pick<GuardMounts, 'mounts' | 'besides'>;

function argumentsOf(
  roots: readonly string[],
  { mounts, besides }: Guards,
  holder: MountHolder,
): Pick<Built, 'command' | 'mounts'> {
  // The root of everything is mounted already.
  const rootMounts = roots.filter((root) => root !== '/').map((root) => holder.writable(root));
  return { command: [], mounts: holder.arguments([...rootMounts, ...besides, ...mounts]) };
}

/** Undefined where that is not to be had: then it takes longer. */
function tableOf(
  roots: readonly string[],
  { mounts, besides }: Guards,
  holder: MountHolder,
): Pick<Built, 'command' | 'mounts' | 'table'> | undefined {
  const table = mountTable(roots, mounts);
  if (table === undefined) return undefined;
  for (const root of roots) holder.inherit(root);
  const rootMounts = roots.filter((root) => root !== '/').flatMap((root) => ['--bind', root, root]);
  return {
    command: table.command,
    table: table.text,
    mounts: [...ownIdArguments(), ...rootMounts, ...holder.arguments(besides)],
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
  readonly start: Pick<
    ProcessStart,
    'holdsOrphans' | 'file' | 'name' | 'args' | 'report' | 'places' | 'attached'
  >;
  readonly env: Readonly<Record<string, string>>;
  /** Not everything is guarded that should be. */
  readonly incomplete: boolean;
  /** Left out: nothing is to be watched while it runs. */
  readonly watch?: GuardWatch;
  /** Left out: it lies in memory, and is not looked at. */
  readonly outside?: OutsidePlaces;
  readonly read: (end: ProcessEnd) => SandboxedEnd;
  /** How the process has ended, once no process has its output open; undefined where only the system can say so. */
  readonly exitStatus: () => ProcessEnd | undefined;
  readonly close: () => void;
}
