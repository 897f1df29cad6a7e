import type { ChangedEntry, CommandChanges, Unexpected } from '../../contract/changes.js';
import type { BinaryPath } from '../../platform/fs/binary-fs.js';
import { namingIn } from './report-changes.js';

interface UnexpectedPath {
  readonly root: number;
  readonly path: BinaryPath;
  readonly isDirectory: boolean;
  readonly change: ChangedEntry['change'];
  readonly why: Unexpected;
}

/** The maximum number of paths in a list. */
const MOST_PATHS = 200;

/** The changed paths beyond a call's declaration and permission. */
export class UnexpectedChanges {
  readonly paths: readonly UnexpectedPath[];
  readonly #whys: ReadonlyMap<string, Unexpected>;

  constructor(paths: readonly UnexpectedPath[]) {
    this.paths = paths;
    this.#whys = new Map(paths.map(({ root, path, why }) => [`${root}/${path}`, why]));
  }

  get size(): number {
    return this.paths.length;
  }

  why(root: number, path: BinaryPath): Unexpected | undefined {
    return this.#whys.get(`${root}/${path}`);
  }

  entries(name: ReturnType<typeof namingIn>): readonly ChangedEntry[] {
    return this.paths.map(({ root, path, isDirectory, change, why }) => ({
      path: name(root, path, isDirectory),
      change,
      unexpected: why,
    }));
  }

  /** At most 200, sorted. */
  named(name: ReturnType<typeof namingIn>): readonly string[] {
    const names = this.paths.map(({ root, path, isDirectory }) => name(root, path, isDirectory));
    return names.sort().slice(0, MOST_PATHS);
  }
}

export const NONE_UNEXPECTED = new UnexpectedChanges([]);

/** Adds them to the reported changes. */
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
