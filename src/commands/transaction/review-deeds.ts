import { randomBytes } from 'node:crypto';
import type { DeedsReview, MadeChange } from '../../contract/changes.js';
import type { TransactionRules } from '../../contract/processes.js';
import {
  type BinaryPath,
  binaryEntry,
  readBinaryFile,
  readBinaryLink,
  toBinary,
  toText,
} from '../../platform/fs/binary-fs.js';
import { knownSandbox } from '../sandbox/find-sandbox.js';
import { followedByGit, keyOf } from './followed-by-git.js';
import type { LeftOut, ScannedChanges } from './found-changes.js';
import { type Merged, mergedByPath } from './look-at-changes.js';
import type { OverlayMount, OverlayPrograms } from './overlay-mount.js';
import { isCheckedAsGit } from './refuse-changes.js';
import { NONE_UNEXPECTED, UnexpectedChanges } from './unexpected-changes.js';

interface ReviewedParts {
  readonly rules: TransactionRules;
  readonly mounts: readonly OverlayMount[];
  readonly setup: { readonly programs: OverlayPrograms };
}

/** Finds the changes beyond the declaration and permission of a command's call. */
export async function findUnexpected(
  parts: ReviewedParts,
  { changes }: Pick<ScannedChanges, 'changes'>,
  deeds: DeedsReview | undefined,
): Promise<UnexpectedChanges> {
  if (deeds === undefined || changes.length === 0) return NONE_UNEXPECTED;
  const made = new Map(mergedByPath(changes).map((merged) => [toMade(parts, merged), merged]));
  const found = await deeds.unexpected([...made.keys()]);
  if (found.size === 0) return NONE_UNEXPECTED;
  const paths = [...found].flatMap(([change, why]) => {
    const { gone, come } = made.get(change) ?? {};
    const planned = come ?? gone;
    if (planned === undefined) return [];
    const { root, path } = planned;
    return [{ root, path, isDirectory: change.kind === 'dir', change: change.change, why }];
  });
  if (!deeds.expectsCommitted) return new UnexpectedChanges(paths);
  const committed = await committedByGit(parts, paths);
  return new UnexpectedChanges(paths.filter(({ root, path }) => !committed.has(keyOf(root, path))));
}

function toMade({ mounts, rules }: ReviewedParts, { gone, come }: Merged): MadeChange {
  const { root, path, kind: now } = come ?? gone;
  const at = toBinary(mounts[root]?.root ?? '');
  const lower = `${at}/${path}`;
  const isNew = gone.before === undefined;
  return {
    path: toText(lower),
    // A file that a directory replaces is removed.
    kind: now === 'dir' ? gone.kind : now,
    get isHarmless() {
      const isTodo = path.endsWith('/git-rebase-todo');
      return !isTodo && isCheckedAsGit(rules, { index: root, lower: at, upper: '' }, path);
    },
    change: come === undefined ? 'delete' : isNew ? 'create' : 'modify',
    before: () => (isNew ? undefined : contentAt(lower)),
    after: () => contentAt(come?.from),
    linkText: () =>
      come?.kind === 'link' && come.from !== undefined ? toText(readBinaryLink(come.from)) : undefined,
  };
}

/** Undefined if there is no file. */
function contentAt(path: BinaryPath | undefined): Uint8Array | undefined {
  if (path === undefined) return undefined;
  const entry = binaryEntry(path);
  if (entry?.kind !== 'file' && entry?.kind !== 'link') return undefined;
  // A link, or a file too large to compare, never equals another.
  return entry.kind === 'link' || entry.size > MOST_BYTES ? randomBytes(32) : readBinaryFile(path);
}

const MOST_BYTES = 4 * 1024 * 1024;

/** Files with a committed version that git itself put there. */
async function committedByGit(
  { mounts, setup }: ReviewedParts,
  paths: readonly Pick<LeftOut, 'root' | 'path' | 'isDirectory'>[],
): Promise<ReadonlySet<string>> {
  const sandbox = knownSandbox();
  if (sandbox?.stands !== true) return new Set();
  const asked = paths.map((path): LeftOut => ({ ...path, reason: '', isConflict: false, byPattern: true }));
  const { file: bubblewrap } = sandbox;
  return followedByGit({ bubblewrap, programs: setup.programs, mounts, isReplaceable: () => true }, asked);
}
