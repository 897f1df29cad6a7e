import type { ChangedEntry, EntryState, PreviewedChanges, Unexpected } from '../../contract/changes.js';
import type { Confinement } from '../../contract/processes.js';
import { type BinaryPath, readBinaryFile, readBinaryLink, toBinary } from '../../platform/fs/binary-fs.js';
import { changedName } from '../../platform/fs/changed-name.js';
import type { ScannedChanges } from './found-changes.js';
import { namingIn, reportChanges } from './report-changes.js';
import type { EntryPrint, PlannedChange } from './transaction-plan.js';
import { NONE_UNEXPECTED, type UnexpectedChanges } from './unexpected-changes.js';

/** The number of files whose content a person sees, the size of each, and the total. */
const MOST = { files: 1000, bytes: 1024 * 1024, allBytes: 16 * 1024 * 1024 } as const;
/** How many bytes are compared to find that a large file keeps its content. */
const MOST_COMPARED = 64 * 1024 * 1024;

interface LookParts {
  readonly confinement: Pick<Confinement, 'roots'>;
  readonly mounts: readonly { readonly root: string }[];
}

/**
 * All changes of a commit, and all changes left out, for the question to the person.
 * @param unexpected the changes beyond the permission, which come first
 */
export function lookAt(
  { confinement, mounts }: LookParts,
  { changes, leftOut }: Pick<ScannedChanges, 'changes' | 'leftOut'>,
  unexpected: UnexpectedChanges = NONE_UNEXPECTED,
): PreviewedChanges {
  const roots = mounts.map(({ root }) => root);
  const first = confinement.roots[0] ?? '';
  const name = namingIn(roots, first);
  const look = new Look();
  const merged = mergedByPath(changes);
  const whyOf = ({ gone }: Merged): Unexpected | undefined => unexpected.why(gone.root, gone.path);
  // Entries are read in order, while there is room.
  const ordered = [...merged.filter(whyOf), ...merged.filter((one) => whyOf(one) === undefined)];
  const entries = ordered.map((one): PreviewedChanges['entries'][number] => {
    const { gone, come } = one;
    const why = whyOf(one);
    const { root, path, kind } = come ?? gone;
    const lower = `${toBinary(roots[root] ?? '')}/${path}`;
    const before = stateOf(gone.before, lower);
    const after = stateOf(come?.after, come?.from);
    const change = before === undefined ? 'create' : after === undefined ? 'delete' : 'modify';
    const entry: ChangedEntry = {
      path: name(root, path, kind === 'dir'),
      change,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
      ...(why === undefined ? {} : { unexpected: why }),
    };
    return { ...entry, ...look.contentOf(entry, lower, come?.from) };
  });
  const report = reportChanges({ changes, leftOut, roots, first, failed: [], keepVersion: undefined });
  const notKept = leftOut.map(({ root, path, isDirectory, reason }) => ({
    path: name(root, path, isDirectory),
    reason,
  }));
  return {
    changes: unexpected.size === 0 ? report : { ...report, unexpected: unexpected.named(name) },
    entries: entries.sort(unexpectedFirst),
    notKept: notKept.sort(byPath),
  };
}

function unexpectedFirst(one: ChangedEntry, other: ChangedEntry): number {
  const [isFirst, isNext] = [one.unexpected !== undefined, other.unexpected !== undefined];
  return isFirst === isNext ? byPath(one, other) : isFirst ? -1 : 1;
}

/** A change of one path: the old and the new entry. */
export interface Merged {
  /** For a created path: the change itself, which has no `before`. */
  readonly gone: PlannedChange;
  readonly come?: PlannedChange;
}

/** A plan removes a directory before it puts a file there; for a person that is one change. */
export function mergedByPath(changes: readonly PlannedChange[]): readonly Merged[] {
  if (changes.every(({ change }) => change !== 'delete'))
    return changes.map((change) => ({ gone: change, come: change }));
  const byPlace = new Map<string, Merged>();
  for (const change of changes) {
    const place = `${change.root}/${change.path}`;
    const gone = byPlace.get(place)?.gone ?? change;
    byPlace.set(place, change.change === 'delete' ? { gone } : { gone, come: change });
  }
  return [...byPlace.values()];
}

/** @param at the place of the described entry */
function stateOf(print: EntryPrint | undefined, at: BinaryPath | undefined): EntryState | undefined {
  if (print === undefined) return undefined;
  const { kind, size } = print;
  if (kind === 'link') return { kind, ...targetOf(at) };
  const mode = print.mode.toString(8).padStart(3, '0');
  return kind === 'file' ? { kind, mode, size } : { kind, mode };
}

function targetOf(link: BinaryPath | undefined): Pick<EntryState, 'target'> {
  try {
    return link === undefined ? {} : { target: changedName(readBinaryLink(link)) };
  } catch {
    // Another program has replaced it: the commit finds that too, and refuses.
    return {};
  }
}

function byPath(one: { readonly path: string }, other: { readonly path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

type Content = Pick<PreviewedChanges['entries'][number], 'content' | 'unshown' | 'isSameContent'>;

/** Reads contents while there is room. */
class Look {
  #files = 0;
  #bytes = 0;
  #compared = 0;

  /** @param lower the place of the current file. @param from the place of the new file */
  contentOf({ before, after }: ChangedEntry, lower: BinaryPath, from: BinaryPath | undefined): Content {
    const was = before?.kind === 'file' ? lower : undefined;
    const is = after?.kind === 'file' ? from : undefined;
    const [sizeBefore = 0, sizeAfter = 0] = [before?.size, after?.size];
    if (was === undefined && is === undefined) return {};
    try {
      if (
        was !== undefined &&
        is !== undefined &&
        sizeBefore === sizeAfter &&
        this.#isSame(was, is, sizeAfter)
      )
        return { isSameContent: true };
      if (Math.max(sizeBefore, sizeAfter) > MOST.bytes) return { unshown: 'it is too large to be shown' };
      if (this.#files === MOST.files || this.#bytes + sizeBefore + sizeAfter > MOST.allBytes)
        return { unshown: 'not shown: there are too many files' };
      this.#files++;
      this.#bytes += sizeBefore + sizeAfter;
      return {
        content: {
          ...(was === undefined ? {} : { before: readBinaryFile(was) }),
          ...(is === undefined ? {} : { after: readBinaryFile(is) }),
        },
      };
    } catch {
      return { unshown: 'it cannot be read' };
    }
  }

  #isSame(one: BinaryPath, other: BinaryPath, size: number): boolean {
    this.#compared += size;
    if (this.#compared > MOST_COMPARED) return false;
    return readBinaryFile(one).equals(readBinaryFile(other));
  }
}
