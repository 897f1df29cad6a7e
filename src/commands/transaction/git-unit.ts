import {
  type BinaryPath,
  binaryEntry,
  readableNames,
  readBinaryFile,
  rewriteBinaryFile,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import { type OpenFile, openForReading } from '../../platform/fs/open-file.js';
import type { Repository } from '../sandbox/git/find-repositories.js';
import type { BegunState } from './begun-state.js';

/**
 * A git directory with its own `HEAD` and index, in the state in which a command began. The caller closes it.
 */
export class GitUnit {
  readonly at: BinaryPath;
  /** The directory with its branches and objects. */
  readonly common: BinaryPath;
  readonly #head: string;
  readonly #state: string;
  readonly #refs: ReadonlySet<BinaryPath> | undefined;
  readonly #hadPackedRefs: boolean;
  /** Git replaces the file, so this open one keeps the earlier state. */
  readonly #index: OpenFile | undefined;
  #copied = false;

  constructor(at: BinaryPath, common: BinaryPath) {
    this.at = at;
    this.common = common;
    this.#head = text(`${at}/HEAD`);
    this.#state = stateOf(at);
    this.#refs = at === common ? looseRefs(at) : union(looseRefs(at), looseRefs(common));
    this.#hadPackedRefs = binaryEntry(`${common}/packed-refs`) !== undefined;
    this.#index = openForReading(`${at}/index`);
  }

  get hadIndex(): boolean {
    return this.#index !== undefined;
  }

  isHeadSame(): boolean {
    return text(`${this.at}/HEAD`) === this.#head;
  }

  /** Whether git has the same operation in progress as before. */
  isStateSame(): boolean {
    return stateOf(this.at) === this.#state;
  }

  /**
   * @param inside below the directory, such as `refs/heads/main`. If there were too many to list, every
   * reference counts as present
   */
  hadRef(inside: BinaryPath): boolean {
    if (inside === 'HEAD') return this.#head !== '';
    if (inside === 'packed-refs') return this.#hadPackedRefs;
    return this.#refs?.has(inside) ?? true;
  }

  /** Whether another program has moved a branch or changed the index. */
  hasMoved(begun: BegunState): boolean {
    const isNew = (path: BinaryPath): boolean => !begun.isOld(binaryEntry(path)?.ctimeNs ?? 0n);
    if (!this.isHeadSame() || isNew(`${this.at}/index`) || isNew(`${this.common}/packed-refs`)) return true;
    const now = looseRefs(this.common);
    const before = this.#refs;
    if (now === undefined || before === undefined) return true;
    return [...now].some((ref) => !before.has(ref) || isNew(`${this.common}/${ref}`));
  }

  /**
   * Whether another git has worked in it since the command began, or is working now: the command may have met
   * its lock or half of its change.
   */
  isDisturbed(begun: BegunState): boolean {
    // A new lock changes the times of the directory.
    const isTouched = !begun.isOld(binaryEntry(this.at)?.ctimeNs ?? 0n);
    return isTouched || this.isLocked(begun) || this.hasMoved(begun);
  }

  /** An old lock was left by a killed git, and stays. */
  isLocked({ begunNs }: BegunState): boolean {
    return LOCKS.some((name) => (binaryEntry(`${this.at}/${name}`)?.ctimeNs ?? 0n) > begunNs - RECENT_NS);
  }

  /** The earlier index, as a file. Undefined if there was none. */
  indexBefore(copyAt: BinaryPath): BinaryPath | undefined {
    if (this.#index === undefined) return undefined;
    if (!this.#copied) rewriteBinaryFile(copyAt, this.#index.read().toString('latin1'));
    this.#copied = true;
    return copyAt;
  }

  close(): void {
    this.#index?.close();
  }
}

/** The units of the roots, each once. */
export function openGitUnits(repositories: readonly Repository[]): readonly GitUnit[] {
  const units = new Map<string, GitUnit>();
  for (const { directory, common } of repositories) {
    for (const at of [directory, common]) {
      if (!units.has(at) && binaryEntry(toBinary(`${at}/HEAD`))?.kind === 'file') {
        units.set(at, new GitUnit(toBinary(at), toBinary(common)));
      }
    }
  }
  return [...units.values()];
}

/** Files that exist while git has an operation in progress. */
const STATE = [
  'MERGE_HEAD',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'BISECT_LOG',
  'rebase-merge',
  'rebase-apply',
  'sequencer',
];

function stateOf(git: BinaryPath): string {
  return JSON.stringify(
    STATE.map((name) => {
      const entry = binaryEntry(`${git}/${name}`);
      if (entry === undefined) return '';
      return entry.kind === 'file' ? text(`${git}/${name}`) : entry.kind;
    }),
  );
}

const LOCKS = ['index.lock', 'HEAD.lock', 'packed-refs.lock'];
const RECENT_NS = 15_000_000_000n;

const SMALL_BYTES = 64 * 1024;

function text(path: BinaryPath): string {
  try {
    const entry = binaryEntry(path);
    return entry?.kind === 'file' && entry.size <= SMALL_BYTES ? readBinaryFile(path).toString('latin1') : '';
  } catch {
    return '';
  }
}

/** More loose references than this are not listed. */
const MOST_REFS = 5000;

/** The paths of loose references below a git directory. Undefined: there are too many. */
function looseRefs(git: BinaryPath): ReadonlySet<BinaryPath> | undefined {
  const found = new Set<BinaryPath>();
  const waiting = ['refs'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const name of readableNames(`${git}/${path}`)) {
      const at = `${path}/${name}`;
      if (binaryEntry(`${git}/${at}`)?.kind === 'dir') waiting.push(at);
      else found.add(at);
    }
    if (found.size > MOST_REFS) return undefined;
  }
  return found;
}

function union<T>(
  one: ReadonlySet<T> | undefined,
  other: ReadonlySet<T> | undefined,
): ReadonlySet<T> | undefined {
  return one === undefined || other === undefined ? undefined : new Set([...one, ...other]);
}
