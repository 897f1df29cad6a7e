import type { CommandChanges } from '../../contract/changes.js';
import type { BinaryPath } from '../../platform/fs/binary-fs.js';
import { namingIn } from './report-changes.js';

interface UnexpectedPath {
  readonly root: number;
  readonly path: BinaryPath;
  readonly isDirectory: boolean;
}

/** Paths in a list. */
const MOST_PATHS = 200;

/** The changed paths that go beyond what a call declared and was allowed. */
export class UnexpectedChanges {
  readonly paths: readonly UnexpectedPath[];
  readonly #keys: ReadonlySet<string>;

  constructor(paths: readonly UnexpectedPath[]) {
    this.paths = paths;
    this.#keys = new Set(paths.map(({ root, path }) => `${root}/${path}`));
  }

  get size(): number {
    return this.paths.length;
  }

  has(root: number, path: BinaryPath): boolean {
    return this.#keys.has(`${root}/${path}`);
  }

  /** At most 200, sorted. */
  named(name: ReturnType<typeof namingIn>): readonly string[] {
    const names = this.paths.map(({ root, path, isDirectory }) => name(root, path, isDirectory));
    return names.sort().slice(0, MOST_PATHS);
  }
}

export const NONE_UNEXPECTED = new UnexpectedChanges([]);

/** Names them in what is reported of the changes. */
export function withUnexpected(
  changes: CommandChanges,
  { mounts, confinement }: NamedIn,
  unexpected: UnexpectedChanges,
): CommandChanges {
  if (unexpected.size === 0) return changes;
  const roots = mounts.map(({ root }) => root);
  return { ...changes, unexpected: unexpected.named(namingIn(roots, confinement.roots[0] ?? '')) };
}

interface NamedIn {
  readonly mounts: readonly { readonly root: string }[];
  readonly confinement: { readonly roots: readonly string[] };
}
