import { hash } from 'node:crypto';
import type { RestoredFile } from '../../contract/files.js';
import type { NotedState } from '../record/noted-change.js';

/** What becomes of a file. `done`: there is nothing to put back. `stays`: it cannot be put back. */
export type Fate = Restoration | Settled;

interface Restoration {
  readonly kind: 'restore';
  readonly file: RestoredFile;
  /** SHA-256 of what comes back; null: the file goes. */
  readonly before: string | null;
  /** The permission bits that the call left. */
  readonly modeLeft: number | undefined;
}

interface Settled {
  readonly kind: 'done' | 'stays';
  readonly reason: string;
  /** What the file was before the call. */
  readonly was: NotedState;
  /** What lies there; undefined where that is not known. */
  readonly now: NotedState | undefined;
}

export function done(now: NotedState): Fate {
  return { kind: 'done', reason: 'it is as it was before', was: now, now };
}

export function stays(reason: string, was: NotedState, now?: NotedState): Fate {
  return { kind: 'stays', reason, was, now };
}

/** Paths of which all are put back, or none. */
export interface Group {
  readonly paths: ReadonlySet<string>;
  readonly isMove: boolean;
  /** Why a file stays when `other` does. */
  readonly because: (other: string) => string;
}

/** Lets files stay whose undoing would be half of something, or would lose a text. Changes `fates`. */
export function keepTogether(fates: Map<string, Fate>, groups: readonly Group[]): void {
  // A file that stays can make another one stay.
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
 * A call may have taken a text from one file to another without a move: a patch that deletes `a` and adds `b`. Where
 * `a` stays as a person has made it since, `b` is all that is left of the text.
 */
function keepOnlyCopies(fates: Map<string, Fate>): void {
  const left = new Set([...fates.values()].map(stateLeft));
  for (const [path, fate] of fates) {
    if (fate.kind !== 'stays' || fate.was === null || fate.was === EMPTY || left.has(fate.was)) continue;
    for (const [holder, other] of fates) {
      if (other.kind !== 'restore' || other.file.expectedSha256 !== fate.was) continue;
      letStay(holder, `it holds what ${JSON.stringify(path)} was, which stays`, fates);
      left.add(fate.was);
      break;
    }
  }
}

/** SHA-256 of nothing: an empty file is no text to lose. */
const EMPTY = hash('sha256', '');

/** What the undo leaves at a path. */
function stateLeft(fate: Fate): NotedState | undefined {
  return fate.kind === 'restore' ? fate.before : fate.now;
}

function letStay(path: string, reason: string, fates: Map<string, Fate>): void {
  const fate = fates.get(path);
  if (fate?.kind === 'restore') fates.set(path, stays(reason, fate.before, fate.file.expectedSha256));
}

/** Tells each file of a move which other one it was. */
function pairUp(paths: ReadonlySet<string>, fates: Map<string, Fate>): void {
  const restored = [...paths].flatMap((path) => {
    const fate = fates.get(path);
    return fate?.kind === 'restore' ? [fate] : [];
  });
  for (const one of restored) {
    fates.set(one.file.path, { ...one, file: { ...one.file, ...partnerOf(one, restored) } });
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
