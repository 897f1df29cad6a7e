import type { SkippedFile } from '../../contract/executor.js';
import {
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
import { done, type Fate, type Group, keepTogether, stays } from './keep-together.js';
import { findObstacles, type PlannedDirectories, planDirectories } from './plan-directories.js';

export interface UndoPlan extends PlannedDirectories {
  /** All of these files are restored, or none. */
  readonly files: readonly RestoredFile[];
  readonly skipped: readonly SkippedFile[];
  /**
   * Files of `files` that are removed before the others are restored, because they are in the place of a
   * restored file or directory.
   */
  readonly obstacles: ReadonlySet<string>;
  /** Whether obstacles, or directories of `tidy`, must be removed before a file can be restored. */
  readonly clearsFirst: boolean;
}

export interface UndoWorld {
  /** A sandbox that takes canonical paths. */
  readonly sandbox: Sandbox;
  readonly journal: Journal;
  /** Files whose current content the journal has no room for. */
  readonly unkept: ReadonlySet<string>;
  /**
   * Old contents that were already read. A journal in memory may drop them when it stores contents for the
   * undo.
   */
  readonly contents: Map<string, Uint8Array>;
}

/**
 * Plans the steps that restore every file to its state before a call's first change. A change that was noted
 * but never made is skipped, because the file never had that content.
 *
 * 1. A file is replaced or removed only if its current content can be kept.
 * 2. The files of a move are restored together, or all of them stay.
 * 3. A file stays if it holds the only copy of a text whose original file stays too.
 */
export async function planUndo(intents: readonly NotedIntent[], world: UndoWorld): Promise<UndoPlan> {
  const { sandbox } = world;
  const byPath = stepsByPath(intents);
  const fates = new Map<string, Fate>();
  for (const [path, steps] of byPath)
    fates.set(path, await decideFile(path, steps, world, look(path, sandbox)));
  const obstacles = findObstacles(fates, intents, sandbox);
  for (const path of obstacles.keys()) {
    fates.set(path, await decideFile(path, byPath.get(path) ?? [], world, { kind: 'none' }));
  }
  keepTogether(fates, [...moveGroups(intents), ...placeGroups(obstacles)]);
  const files = [...fates.values()].flatMap((fate) => (fate.kind === 'restore' ? [fate.file] : []));
  const skipped = [...fates].flatMap(([path, fate]) =>
    fate.kind === 'restore' ? [] : [{ path, reason: fate.reason }],
  );
  const cleared = [...obstacles].filter(([path]) => fates.get(path)?.kind === 'restore');
  const first = new Set(cleared.flatMap(([, inWay]) => inWay));
  const directories = planDirectories(intents, files, first, sandbox);
  return { files, skipped, obstacles: first, clearsFirst: cleared.length > 0, ...directories };
}

/** One change of a file, with its state before and after. */
interface Step {
  readonly change: NotedChange;
  readonly before: NotedState;
  readonly after: NotedState;
}

function stepsByPath(intents: readonly NotedIntent[]): ReadonlyMap<string, readonly Step[]> {
  const byPath = new Map<string, Step[]>();
  for (const { changes } of intents) {
    for (const change of changes) {
      const step = { change, before: stateBefore(change), after: stateAfter(change, changes) };
      const steps = byPath.get(change.path);
      if (steps === undefined) byPath.set(change.path, [step]);
      else steps.push(step);
    }
  }
  return byPath;
}

/** The current state of a path, or the reason why it cannot be examined. */
function look(path: string, sandbox: Sandbox): ExaminedEntry | string {
  try {
    return sandbox.examine(path);
  } catch (error) {
    if (!isToolError(error)) throw error;
    return error.code === 'sandbox_violation' ? 'tools may not change it' : 'it cannot be read';
  }
}

async function decideFile(
  path: string,
  steps: readonly Step[],
  world: UndoWorld,
  entry: ExaminedEntry | string,
): Promise<Fate> {
  const was = steps[0]?.before ?? null;
  if (typeof entry === 'string') return stays(entry, was);
  if (entry.kind === 'elsewhere') return stays('a part of its path is a link, or no longer a directory', was);
  const now = stateOf(entry);
  const traced = traceBack(now, steps);
  if (traced === undefined) {
    return steps.some(({ before }) => before === now) ? done(now) : stays('it was changed since', was, now);
  }
  const { first, last } = traced;
  const { before, beforeMode, beforeOwner, preimage } = first.change;
  const modeLeft = modeLeftBy(last.change);
  const bitsNow = entry.kind === 'file' ? entry.mode : undefined;
  const hasBitsOfCall = modeLeft !== undefined && bitsNow === modeLeft;
  const setsBits = beforeMode !== undefined && beforeMode !== modeLeft && hasBitsOfCall;
  if (first.before === now && !setsBits) return done(now);
  if (first.change.beforeKind !== undefined || (entry.kind !== 'file' && entry.kind !== 'none')) {
    return stays('it was not a regular file', was, now);
  }
  if (entry.kind === 'file') {
    const why = whyKept(path, entry, { goes: before === null, isMove: isMoved(steps), modeLeft }, world);
    if (why !== undefined) return stays(why, was, now);
  }
  const bytes = before === null ? null : await oldContent(preimage, world);
  if (bytes === undefined) return stays('its old content was not kept', was, now);
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

interface Leaving {
  /** The file is removed, not replaced. */
  readonly goes: boolean;
  readonly isMove: boolean;
  /** The permission bits after the call. */
  readonly modeLeft: number | undefined;
}

/** The reason why an existing file must stay. */
function whyKept(
  path: string,
  { size, writable, mode }: Extract<ExaminedEntry, { kind: 'file' }>,
  { goes, isMove, modeLeft }: Leaving,
  { unkept }: UndoWorld,
): string | undefined {
  if (size > MAX_KEPT_CONTENT_BYTES) return 'its current content is too large to keep';
  if (unkept.has(path)) return 'the journal has no room for its current content';
  if (!writable && !goes && mode !== modeLeft) return 'it was made read-only since';
  // A file that is replaced or moved back keeps permission bits that a person has set since; a removed file
  // would lose them.
  if (goes && !isMove && modeLeft !== undefined && mode !== modeLeft)
    return 'its permission bits were changed since';
  return undefined;
}

function isMoved(steps: readonly Step[]): boolean {
  return steps.some(({ change }) => change.movedFrom !== undefined);
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

/**
 * The permission bits after a change; undefined if they were not noted. If the file has other bits now, they
 * were set later.
 */
function modeLeftBy({ before, after, beforeMode, afterMode }: NotedChange): number | undefined {
  if (after === null) return undefined;
  if (afterMode !== undefined) return afterMode;
  // A replaced file keeps its mode, without set-user-ID and set-group-ID.
  return before === null || beforeMode === undefined ? undefined : beforeMode & 0o1777;
}

/**
 * Follows the changes back from the current state to the first change that led to it; undefined if no change
 * did.
 */
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

/** Groups the paths between which files were moved. */
function moveGroups(intents: readonly NotedIntent[]): readonly Group[] {
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
  return [...new Set(groupOf.values())].map((paths) => ({
    paths,
    isMove: true,
    because: (other) => `it was moved, and ${JSON.stringify(other)} stays`,
  }));
}

/** Groups a file with the obstacles in its place that the undo removes. */
function placeGroups(obstacles: ReadonlyMap<string, readonly string[]>): readonly Group[] {
  return [...obstacles].map(([path, inWay]) => ({
    paths: new Set([path, ...inWay]),
    isMove: false,
    because: (other) => `${JSON.stringify(other)} stays, and both cannot exist`,
  }));
}
