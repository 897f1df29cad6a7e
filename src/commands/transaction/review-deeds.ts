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
  const made = mergedByPath(changes).map((merged) => new ReviewedChange(merged, parts));
  const found = await deeds.unexpected(made);
  if (found.size === 0) return NONE_UNEXPECTED;
  const paths = made.flatMap((change) => {
    const why = found.get(change);
    if (why === undefined) return [];
    const { root, path } = change.merged.gone;
    return [{ root, path, isDirectory: change.kind === 'dir', change: change.change, why }];
  });
  if (!deeds.expectsCommitted) return new UnexpectedChanges(paths);
  const committed = await committedByGit(parts, paths);
  return new UnexpectedChanges(paths.filter(({ root, path }) => !committed.has(keyOf(root, path))));
}

/** A change as the review sees it: contents are read when they are asked for. */
class ReviewedChange implements MadeChange {
  readonly path: string;
  readonly kind: MadeChange['kind'];
  readonly change: MadeChange['change'];
  readonly merged: Merged;
  readonly #rules: TransactionRules;
  readonly #root: BinaryPath;

  constructor(merged: Merged, { mounts, rules }: ReviewedParts) {
    const { gone, come } = merged;
    const { root, path, kind } = come ?? gone;
    this.merged = merged;
    this.#rules = rules;
    this.#root = toBinary(mounts[root]?.root ?? '');
    this.path = toText(`${this.#root}/${path}`);
    // A file that a directory replaces is removed.
    this.kind = kind === 'dir' ? gone.kind : kind;
    this.change = come === undefined ? 'delete' : gone.before === undefined ? 'create' : 'modify';
  }

  get isHarmless(): boolean {
    const { root, path } = this.merged.gone;
    const isTodo = path.endsWith('/git-rebase-todo');
    return !isTodo && isCheckedAsGit(this.#rules, { index: root, lower: this.#root, upper: '' }, path);
  }

  before(): Uint8Array | undefined {
    return this.change === 'create' ? undefined : contentAt(`${this.#root}/${this.merged.gone.path}`);
  }

  after(): Uint8Array | undefined {
    return contentAt(this.merged.come?.from);
  }

  linkText(): string | undefined {
    const { come } = this.merged;
    return come?.kind === 'link' && come.from !== undefined ? toText(readBinaryLink(come.from)) : undefined;
  }
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
