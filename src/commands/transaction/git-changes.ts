import {
  type BinaryPath,
  binaryEntry,
  readBinaryFile,
  rewriteBinaryFile,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import type { BegunState } from './begun-state.js';
import { compareIndexes } from './compare-indexes.js';
import type { FoundChange, GitVerdict } from './found-changes.js';
import type { GitUnit } from './git-unit.js';

/**
 * Changes in a repository, compared with git's meaning.
 *
 * 1. Objects are only added; a name identifies its content.
 * 2. Branches, tags and `HEAD` are compared one by one. A change of a reference or of the index depends on
 *   `HEAD` and on the operation that git has in progress (a merge, a rebase).
 * 3. The index is compared by its entries; its times are a cache.
 * 4. Logs are appended to. Locks, `FETCH_HEAD`, `ORIG_HEAD` and caches are no conflict.
 */
export class GitChanges {
  readonly #units: readonly GitUnit[];
  readonly #begun: BegunState;
  readonly #scratch: BinaryPath;
  readonly #locks = new Set<BinaryPath>();
  #merged = 0;

  /**
   * @param units their state when the command began
   * @param scratch a directory of ours, for merged logs
   */
  constructor(units: readonly GitUnit[], begun: BegunState, scratch: string) {
    this.#units = units;
    this.#begun = begun;
    this.#scratch = toBinary(scratch);
  }

  /** Lock files that keep git from changing the files of the commit; sorted. */
  get locks(): readonly BinaryPath[] {
    return [...this.#locks].sort();
  }

  /** Undefined: git gives the path no special meaning. */
  verdict(change: FoundChange): GitVerdict | undefined {
    const at = `${change.root.lower}/${change.path}`;
    const unit = this.#unitOf(at);
    if (unit === undefined) return undefined;
    const inside = at.slice(unit.at.length + 1);
    const [first = ''] = inside.split('/');
    if (inside.endsWith('.lock')) return change.upper === undefined ? undefined : 'skip';
    if (first === 'objects') return this.#object(unit, change);
    if (first === 'logs') return this.#log(change, at);
    if (inside === 'index') return this.#index(unit, change, at);
    if (inside === 'HEAD' || inside === 'packed-refs' || first === 'refs')
      return this.#ref(unit, change, inside);
    return CACHES.test(inside) ? 'take' : undefined;
  }

  /**
   * The innermost unit: a working tree or a submodule has its own directory inside that of its repository.
   */
  #unitOf(at: BinaryPath): GitUnit | undefined {
    let found: GitUnit | undefined;
    for (const unit of this.#units) {
      if (at.startsWith(`${unit.at}/`) && unit.at.length > (found?.at.length ?? 0)) found = unit;
    }
    return found;
  }

  #object(unit: GitUnit, { path, upper, lower }: FoundChange): GitVerdict {
    if (upper !== undefined) return lower?.kind === 'file' && NAMED_BY_CONTENT.test(path) ? 'skip' : 'take';
    // Objects that other programs have added stay.
    if (lower?.kind === 'dir') return this.#isOld(lower.ctimeNs) ? 'take' : 'skip';
    if (lower !== undefined && !this.#isOld(lower.ctimeNs)) return { conflict: OBJECTS };
    // New commits of other programs may need objects that the command found unnecessary.
    return unit.hasMoved(this.#begun) ? { conflict: OBJECTS } : 'take';
  }

  /** Keeps the lines that both appended, in the order in which they become visible. */
  #log({ root, path, upper, lower }: FoundChange, at: BinaryPath): GitVerdict {
    if (upper === undefined) return lower?.kind === 'dir' && !this.#isOld(lower.ctimeNs) ? 'skip' : 'take';
    if (lower?.kind !== 'file' || upper.kind !== 'file' || this.#isOld(lower.ctimeNs)) return 'take';
    const [theirs, ours] = [read(at), read(`${root.upper}/${path}`)];
    const shared = sharedLines(theirs, ours);
    const merged = `${this.#scratch}/log-${this.#merged++}`;
    rewriteBinaryFile(merged, theirs + ours.slice(shared));
    return { take: merged };
  }

  #index(unit: GitUnit, { root, path, upper, lower }: FoundChange, at: BinaryPath): GitVerdict {
    // A removed working tree takes along the directory that a lock would be in.
    if (upper === undefined)
      return lower !== undefined && this.#isOld(lower.ctimeNs) ? 'take' : { conflict: INDEX };
    this.#locks.add(`${at}.lock`).add(`${unit.at}/HEAD.lock`);
    if (lower === undefined && unit.hadIndex) return { conflict: INDEX };
    if (lower === undefined || this.#isOld(lower.ctimeNs)) return this.#relyOnHead(unit, 'take');
    const before = unit.indexBefore(`${this.#scratch}/index`);
    const compared = compareIndexes({ before, theirs: at, ours: `${root.upper}/${path}`, git: unit.at });
    if (compared === 'conflict') return { conflict: INDEX };
    return compared === 'theirs' ? 'skip' : this.#relyOnHead(unit, 'take');
  }

  #ref(unit: GitUnit, { upper, lower }: FoundChange, inside: BinaryPath): GitVerdict {
    if (lower?.kind === 'dir') return this.#isOld(lower.ctimeNs) ? 'take' : 'skip';
    if (inside === 'HEAD' && upper === undefined) {
      return lower !== undefined && this.#isOld(lower.ctimeNs) ? 'take' : { conflict: HEAD };
    }
    if (upper !== undefined || unit.at === unit.common) this.#locks.add(`${unit.at}/HEAD.lock`);
    // Git takes this lock to remove a branch too: the file may have been packed.
    if (upper !== undefined) this.#locks.add(`${unit.at}/${inside}.lock`);
    else this.#locks.add(`${unit.common}/packed-refs.lock`);
    const isSame = lower === undefined ? !unit.hadRef(inside) : this.#isOld(lower.ctimeNs);
    if (!isSame) return { conflict: inside === 'HEAD' ? HEAD : BRANCH };
    return this.#relyOnHead(unit, 'take');
  }

  #relyOnHead(unit: GitUnit, verdict: GitVerdict): GitVerdict {
    if (!unit.isHeadSame()) return { conflict: HEAD };
    return unit.isStateSame() ? verdict : { conflict: STATE };
  }

  #isOld(ctimeNs: bigint): boolean {
    return this.#begun.isOld(ctimeNs);
  }
}

const OBJECTS = 'another program changed the repository while the command removed objects from it';
const INDEX = 'another program changed the staged files of the repository while the command ran';
const HEAD = 'another program switched the branch of the repository while the command ran';
const BRANCH = 'another program changed this branch or tag while the command ran';
const STATE = 'another program began or ended a merge, a rebase or the like while the command ran';

/** Loose objects and packs: the same name means the same content. */
const NAMED_BY_CONTENT = /\/objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.[a-z]+)$/;

/** Files that git recreates or does not depend on. */
const CACHES =
  /^(?:FETCH_HEAD|ORIG_HEAD|COMMIT_EDITMSG|TAG_EDITMSG|MERGE_RR|gc\.log|gc\.pid|rr-cache\/.*|info\/refs|fsmonitor--daemon\/.*|sharedindex\.[0-9a-f]+)$/s;

const LOG_BYTES = 64 * 1024 * 1024;

function read(path: BinaryPath): BinaryPath {
  const entry = binaryEntry(path);
  return entry?.kind === 'file' && entry.size <= LOG_BYTES ? readBinaryFile(path).toString('latin1') : '';
}

/** The number of characters in the lines that both texts begin with. */
function sharedLines(one: string, other: string): number {
  let at = 0;
  for (;;) {
    const end = one.indexOf('\n', at);
    if (end === -1 || one.slice(at, end + 1) !== other.slice(at, end + 1)) return at;
    at = end + 1;
  }
}
