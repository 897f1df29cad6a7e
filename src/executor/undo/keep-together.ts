import { hash } from 'node:crypto';
import { AS_BEFORE } from '../../contract/executor.js';
import type { RestoredFile } from '../../contract/files.js';
import type { NotedState } from '../record/noted-change.js';

/**
 * The decision about a file. `restore`: its old content comes back. `done`: nothing needs to be restored.
 * `stays`: it cannot be restored.
 */
export type Fate = Restoration | Settled;

interface Restoration {
  readonly kind: 'restore';
  readonly file: RestoredFile;
  /** SHA-256 of the restored content; null: the file is removed. */
  readonly before: string | null;
  /** The permission bits after the call. */
  readonly modeLeft: number | undefined;
}

interface Settled {
  readonly kind: 'done' | 'stays';
  readonly reason: string;
  /** The state of the file before the call. */
  readonly was: NotedState;
  /** The current state; undefined if it is not known. */
  readonly now: NotedState | undefined;
}

export function done(now: NotedState): Fate {
  return { kind: 'done', reason: AS_BEFORE, was: now, now };
}

export function stays(reason: string, was: NotedState, now?: NotedState): Fate {
  return { kind: 'stays', reason, was, now };
}

/** Paths that are all restored, or none of them. */
export interface Group {
  readonly paths: ReadonlySet<string>;
  readonly isMove: boolean;
  /** The reason why a file stays if `other` stays. */
  readonly because: (other: string) => string;
}

/**
 * Marks files as staying if restoring them would undo only half of a change, or would lose a text. Changes
 * `fates`.
 */
export function keepTogether(fates: Map<string, Fate>, groups: readonly Group[]): void {
  // If one file stays, another one may have to stay too.
  for (let before = -1; before !== countStaying(fates); ) {
    before = countStaying(fates);
    for (const group of groups) keepWhole(group, fates);
    keepOnlyCopies(fates);
  }
  for (const { isMove, paths } of groups) if (isMove) pairUp(paths, fates);
}

function countStaying(fates: ReadonlyMap<string, Fate>): number {
  return [...fates.values()].filter(({ kind }) => kind === 'stays').length;
}

function keepWhole({ paths, because }: Group, fates: Map<string, Fate>): void {
  const stuck = [...paths].find((path) => fates.get(path)?.kind === 'stays');
  if (stuck === undefined) return;
  for (const path of paths) letStay(path, because(stuck), fates);
}

/**
 * A call may have moved a text between files without a move, for example by a patch that deletes `a` and adds
 * `b`. If `a` stays because a person has created it again, `b` holds the only copy of the old text and must stay as
 * well.
 */
function keepOnlyCopies(fates: Map<string, Fate>): void {
  const left = new Set([...fates.values()].map(stateLeft));
  for (const [path, fate] of fates) {
    if (fate.kind !== 'stays' || fate.was === null || fate.was === EMPTY || left.has(fate.was)) continue;
    for (const [holder, other] of fates) {
      if (other.kind !== 'restore' || other.file.expectedSha256 !== fate.was) continue;
      letStay(holder, `it holds the old content of ${JSON.stringify(path)}, which stays`, fates);
      left.add(fate.was);
      break;
    }
  }
}

/** SHA-256 of empty content: an empty file has no text to lose. */
const EMPTY = hash('sha256', '');

/** The state of a path after the undo. */
function stateLeft(fate: Fate): NotedState | undefined {
  return fate.kind === 'restore' ? fate.before : fate.now;
}

function letStay(path: string, reason: string, fates: Map<string, Fate>): void {
  const fate = fates.get(path);
  if (fate?.kind === 'restore') fates.set(path, stays(reason, fate.before, fate.file.expectedSha256));
}

/** Links each file of a move to the other file of the move. */
function pairUp(paths: ReadonlySet<string>, fates: Map<string, Fate>): void {
  const restored = [...paths].flatMap((path) => {
    const fate = fates.get(path);
    return fate?.kind === 'restore' ? [fate] : [];
  });
  for (const one of restored) {
    fates.set(one.file.path, { ...one, file: { ...one.file, ...partnerOf(one, restored) } });
  }
}

/**
 * Finds the file that now holds the old content, or else any other file of the move. Also gives that file's
 * permission bits, to check that they are unchanged.
 */
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
