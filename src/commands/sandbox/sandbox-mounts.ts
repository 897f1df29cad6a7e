import { basename } from 'node:path';
import type { GuardedPath, GuardedPaths } from '../../contract/files.js';
import type { Confinement } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { entryStat } from '../../platform/fs/fs-entry.js';
import { makePrivateDirectories } from '../../platform/fs/make-and-remove.js';
import { holdPlaceholder, isPlaceholder } from '../../platform/process/placeholder.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { adoptRepository } from './git/adopt-repository.js';
import type { CommittedFile } from './git/committed-versions.js';
import { guardIncomplete } from './guard-incomplete.js';
import { type GuardMounts, type GuardWatch, guardMounts } from './guard-mounts.js';
import { isWithin, type MountHolder, openMountHolder, PlaceChanged } from './mount-holder.js';
import { FEW_MOUNTS, mountTable } from './mount-table.js';

/** A command whose roots are to be mounted. */
export interface MountRequest {
  readonly confinement: Confinement;
  readonly bubblewrap: Bubblewrap;
  /** If absent: the command writes through. */
  readonly layers?: SandboxLayers | undefined;
  /** Versions that a command which writes through sees in place of hidden files that git tracks; undefined: unknown. */
  readonly committed?: readonly CommittedFile[] | undefined;
}

/** The layers of roots whose changes are kept apart. */
export interface SandboxLayers {
  /** In the order of the descriptors that `command` expects. */
  readonly roots: readonly string[];
  /** The program and arguments before bubblewrap's own command line. */
  readonly command: readonly string[];
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  /** Settings for git inside the sandbox. */
  readonly git: Readonly<Record<string, string>>;
  /** A directory that receives writes outside the roots. It is removed together with the layers. */
  readonly outside: string;
}

/** The installed bubblewrap. */
export interface Bubblewrap {
  /** Absolute. */
  readonly file: string;
  /** It accepts descriptors as sources of mounts. */
  readonly byDescriptor: boolean;
}

/** The mounts of one command, until `close`. */
export interface SandboxMounts {
  /** The program and arguments before bubblewrap's own command line; may be empty. */
  readonly command: readonly string[];
  /** The input of that program. */
  readonly table?: string;
  /** Arguments for bubblewrap. */
  readonly mounts: readonly string[];
  readonly git: Readonly<Record<string, string>>;
  /** Some paths that need a guard are not guarded. */
  readonly incomplete: boolean;
  /** Absent for a transaction: its changes are checked before they are committed. */
  readonly watch?: GuardWatch;
  readonly places: readonly number[];
  readonly close: () => void;
}

/** Other commands may rename entries while the mounts are prepared. Then they are prepared again. */
const MOST_LOOKS = 5;

/**
 * Mounts the roots of a command, and what lies over them.
 * @throws ToolError `spawn_failed` if the roots change faster than a sandbox can be built
 */
export function openMounts(sandboxed: MountRequest): SandboxMounts {
  const { bubblewrap, layers } = sandboxed;
  for (let look = 1; ; look++) {
    const holder = openMountHolder(bubblewrap.byDescriptor);
    const releases: (() => void)[] = [];
    const close = (): void => {
      holder.close();
      for (const release of releases.splice(0)) release();
    };
    try {
      return layers === undefined ? mountOnce(sandboxed, holder, releases) : mountLayers(layers, holder);
    } catch (error) {
      close();
      if (!(error instanceof PlaceChanged)) throw error;
      if (look === MOST_LOOKS) throw cannotMount(error);
    }
  }
}

/** Hidden and guarded paths are part of the layers. */
function mountLayers({ roots, command, mounts, git }: SandboxLayers, holder: MountHolder): SandboxMounts {
  for (const root of roots) holder.inherit(root);
  const places = holder.places();
  return { command, mounts, git, incomplete: false, places, close: () => holder.close() };
}

function mountOnce(
  { confinement, committed }: Pick<MountRequest, 'confinement' | 'committed'>,
  holder: MountHolder,
  releases: (() => void)[],
): SandboxMounts {
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

/** Our own directories are guarded even if they do not exist yet; otherwise a command could create them. */
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
): Pick<SandboxMounts, 'command' | 'mounts'> {
  // The root of the file system is mounted already.
  const rootMounts = roots.filter((root) => root !== '/').map((root) => holder.writable(root));
  return { command: [], mounts: holder.arguments([...rootMounts, ...besides, ...mounts]) };
}

/** One program that mounts many places at once. Undefined if it is not available; then mounting takes longer. */
function tableOf(
  roots: readonly string[],
  { mounts, besides }: Guards,
  holder: MountHolder,
): Pick<SandboxMounts, 'command' | 'mounts' | 'table'> | undefined {
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

/**
 * Paths that a command must not create get placeholders, which can be mounted over.
 * @returns by path, the source that is mounted over the placeholder
 */
function holdPlaceholders(guarded: GuardedPaths, releases: (() => void)[]): ReadonlyMap<string, string> {
  // Another toolexec process may have placeholders in the same roots.
  const others = guarded.readOnly.filter(({ path }) => basename(path) === '.git' && isPlaceholder(path));
  const held = new Map<string, string>();
  for (const path of [...guarded.missing, ...others.map((other) => other.path)]) {
    const placeholder = holdPlaceholder(path, adoptRepository);
    if (placeholder !== undefined) {
      held.set(path, placeholder.inner);
      releases.push(placeholder.release);
    } else if (entryStat(path) !== undefined) throw new PlaceChanged(path);
    // Otherwise the directory is read-only, so no command can create the path.
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

/** Inside an outer user namespace, where it would be root, the command gets the user's own ids back. */
export function ownIdArguments(): readonly string[] {
  const { uid, gid } = ownIds();
  return ['--uid', `${uid}`, '--gid', `${gid}`];
}
