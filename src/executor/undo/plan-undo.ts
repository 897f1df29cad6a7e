import { dirname, join } from 'node:path';
import type { SkippedFile } from '../../contract/executor.js';
import {
  type DirectoryMode,
  type ExaminedEntry,
  MAX_KEPT_CONTENT_BYTES,
  type RestoredFile,
  type Sandbox,
} from '../../contract/files.js';
import type { Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import {
  type NotedChange,
  type NotedIntent,
  type NotedState,
  stateAfter,
  stateBefore,
  stateOf,
} from '../record/noted-change.js';

export interface UndoPlan extends PlannedDirectories {
  /** All of them, or none. */
  readonly files: readonly RestoredFile[];
  readonly skipped: readonly SkippedFile[];
}

export interface UndoWorld {
  /** One that takes canonical paths. */
  readonly sandbox: Sandbox;
  readonly journal: Journal;
  /** Files whose present content the journal has no room for. */
  readonly unkept: ReadonlySet<string>;
  /** Old contents that were read before: what is kept for the undo may push them out of a journal in memory. */
  readonly contents: Map<string, Uint8Array>;
}

/**
 * What has to be done so that every file is as it was before a call's first change. A change that was noted and never
 * made is passed over: the file never was what it would have made of it.
 *
 * 1. Nothing is replaced or removed whose present content cannot be kept.
 * 2. The files of a move are put back together, or all of them stay.
 */
export async function planUndo(intents: readonly NotedIntent[], world: UndoWorld): Promise<UndoPlan> {
  const byPath = new Map<string, Step[]>();
  for (const { changes } of intents) {
    for (const change of changes) {
      const step = { change, before: stateBefore(change), after: stateAfter(change, changes) };
      const steps = byPath.get(change.path);
      if (steps === undefined) byPath.set(change.path, [step]);
      else steps.push(step);
    }
  }
  const fates = new Map<string, Fate>();
  for (const [path, steps] of byPath) fates.set(path, await decideFile(path, steps, world));
  keepMovesWhole(moveGroups(intents), fates);
  const files = [...fates.values()].flatMap((fate) => (fate.kind === 'restore' ? [fate.file] : []));
  const skipped = [...fates].flatMap(([path, fate]) =>
    fate.kind === 'restore' ? [] : [{ path, reason: fate.reason }],
  );
  return { files, skipped, ...planDirectories(intents, files, world.sandbox) };
}

/** One change of a file, with what it found and what it left. */
interface Step {
  readonly change: NotedChange;
  readonly before: NotedState;
  readonly after: NotedState;
}

/** `done`: there is nothing to put back. `stays`: it cannot be put back. */
type Fate = Restoration | { readonly kind: 'done' | 'stays'; readonly reason: string };

interface Restoration {
  readonly kind: 'restore';
  readonly file: RestoredFile;
  /** SHA-256 of what comes back; null: the file goes. */
  readonly before: string | null;
  /** The permission bits that the call left. */
  readonly modeLeft: number | undefined;
}

async function decideFile(path: string, steps: readonly Step[], world: UndoWorld): Promise<Fate> {
  let entry: ExaminedEntry;
  try {
    entry = world.sandbox.examine(path);
  } catch (error) {
    if (!isToolError(error)) throw error;
    return stays(error.code === 'sandbox_violation' ? 'tools may not change it' : 'it cannot be read');
  }
  if (entry.kind === 'elsewhere') return stays('a part of its path is a link, or no directory any more');
  const now = stateOf(entry);
  const traced = traceBack(now, steps);
  if (traced === undefined) {
    return steps.some(({ before }) => before === now) ? done() : stays('it was changed since');
  }
  const { first, last } = traced;
  if (first.before === now) return done();
  if (first.change.beforeKind !== undefined || (entry.kind !== 'file' && entry.kind !== 'none')) {
    return stays('it was no regular file');
  }
  const modeLeft = modeLeftBy(last.change);
  if (entry.kind === 'file') {
    if (entry.size > MAX_KEPT_CONTENT_BYTES) return stays('what it holds now is too large to keep');
    if (world.unkept.has(path)) return stays('the journal has no room for what it holds now');
    if (!entry.writable && first.before !== null && entry.mode !== modeLeft) {
      return stays('it was made read-only since');
    }
  }
  const { before, beforeMode, beforeOwner, preimage } = first.change;
  const bytes = before === null ? null : await oldContent(preimage, world);
  if (bytes === undefined) return stays('its old content was not kept');
  const file = {
    path,
    bytes,
    expectedSha256: entry.kind === 'file' ? entry.sha256 : null,
    ...(beforeMode === undefined ? {} : { mode: beforeMode }),
    ...(beforeMode === undefined || modeLeft === undefined ? {} : { expectedMode: modeLeft }),
    ...(beforeOwner === undefined ? {} : { owner: beforeOwner }),
  };
  return { kind: 'restore', file, before, modeLeft };
}

async function oldContent(
  hash: string | undefined,
  { journal, contents }: UndoWorld,
): Promise<Uint8Array | undefined> {
  if (hash === undefined) return undefined;
  const bytes = contents.get(hash) ?? (await journal.kept(hash));
  if (bytes !== undefined) contents.set(hash, bytes);
  return bytes;
}

function done(): Fate {
  return { kind: 'done', reason: 'it is as it was before' };
}

function stays(reason: string): Fate {
  return { kind: 'stays', reason };
}

/** The permission bits that a change left; undefined where that was not noted. Where the file has others, they were set since. */
function modeLeftBy({ before, after, beforeMode, afterMode }: NotedChange): number | undefined {
  if (after === null) return undefined;
  if (afterMode !== undefined) return afterMode;
  // A file that is replaced keeps its mode, without set-user-ID and set-group-ID.
  return before === null || beforeMode === undefined ? undefined : beforeMode & 0o1777;
}

/** From what the file is now, change by change back to the first that led there; undefined where none did. */
function traceBack(now: NotedState, steps: readonly Step[]): { first: Step; last: Step } | undefined {
  let state = now;
  let first: Step | undefined;
  let last: Step | undefined;
  for (const step of steps.toReversed()) {
    if (step.after !== state) continue;
    state = step.before;
    first = step;
    last ??= step;
  }
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** Where one file of a move stays, all of them do. */
function keepMovesWhole(groups: Iterable<ReadonlySet<string>>, fates: Map<string, Fate>): void {
  for (const group of groups) {
    const stuck = [...group].find((path) => fates.get(path)?.kind === 'stays');
    const restored = [...group].flatMap((path) => {
      const fate = fates.get(path);
      return fate?.kind === 'restore' ? [fate] : [];
    });
    for (const one of restored) {
      const { path } = one.file;
      if (stuck !== undefined) fates.set(path, stays(`it was moved, and ${JSON.stringify(stuck)} stays`));
      else fates.set(path, { ...one, file: { ...one.file, ...partnerOf(one, restored) } });
    }
  }
}

/** The file that holds the old content now, else any other one of the move; and the bits that it has if they were not changed. */
function partnerOf(
  one: Restoration,
  group: readonly Restoration[],
): Pick<RestoredFile, 'movedFrom' | 'expectedMode'> {
  const others = group.filter((other) => other !== one);
  const holder = others.find(({ file }) => one.before !== null && file.expectedSha256 === one.before);
  const partner = holder ?? others[0];
  if (partner === undefined) return {};
  const isGone = one.file.expectedSha256 === null;
  const { modeLeft } = partner;
  return {
    movedFrom: partner.file.path,
    ...(isGone && modeLeft !== undefined ? { expectedMode: modeLeft } : {}),
  };
}

/** The paths that belong together because files were moved between them. */
function moveGroups(intents: readonly NotedIntent[]): ReadonlySet<ReadonlySet<string>> {
  const groupOf = new Map<string, Set<string>>();
  const tie = (one: string, other: string): void => {
    const group = groupOf.get(one) ?? new Set([one]);
    for (const path of groupOf.get(other) ?? [other]) group.add(path);
    for (const path of group) groupOf.set(path, group);
  };
  for (const { op, changes } of intents) {
    for (const { path, movedFrom } of changes) {
      if (movedFrom !== undefined) tie(path, movedFrom);
      else if (op === 'rename' && changes[0] !== undefined) tie(path, changes[0].path);
    }
  }
  return new Set(groupOf.values());
}

interface PlannedDirectories {
  /** Directories that the call removed, and that are missing. */
  readonly make: readonly DirectoryMode[];
  /** Directories that the call made, and that nothing will be in. */
  readonly tidy: readonly string[];
  /** All directories that are missing, and that will be made. */
  readonly makes: readonly string[];
}

/** What becomes of directories when `files` are put back. */
function planDirectories(
  intents: readonly NotedIntent[],
  files: readonly RestoredFile[],
  sandbox: Sandbox,
): PlannedDirectories {
  const look = (path: string): ExaminedEntry['kind'] | undefined => examineQuietly(path, sandbox)?.kind;
  const removed = intents.flatMap((intent) => intent.removed);
  const make = removed.filter(({ path }) => look(path) === 'none');
  const coming = [...files.flatMap(({ path, bytes }) => (bytes === null ? [] : [path]))];
  const makes = new Set(make.map(({ path }) => path));
  for (const path of [...coming, ...makes]) {
    for (let at = dirname(path); look(at) === 'none'; at = dirname(at)) makes.add(at);
  }
  const going = new Set(files.flatMap(({ path, bytes }) => (bytes === null ? [path] : [])));
  const tidy: string[] = [];
  const made = new Set(intents.flatMap((intent) => intent.made));
  // The innermost first: a directory goes when all that is in it goes.
  for (const path of [...made].sort((a, b) => b.length - a.length)) {
    const entry = examineQuietly(path, sandbox);
    if (entry?.kind !== 'dir' || !entry.names.every((name) => going.has(join(path, name)))) continue;
    if ([...coming, ...makes].some((other) => dirname(other) === path)) continue;
    going.add(path);
    tidy.push(path);
  }
  return { make, tidy, makes: [...makes] };
}

/** Undefined where it may not be looked at: then it stays as it is. */
function examineQuietly(path: string, sandbox: Sandbox): ExaminedEntry | undefined {
  try {
    return sandbox.examine(path);
  } catch (error) {
    if (isToolError(error)) return undefined;
    throw error;
  }
}
