import {
  type BinaryEntry,
  type BinaryPath,
  binaryEntry,
  toBinary,
  toText,
} from '../../platform/fs/binary-fs.js';
import { makeOwnDirectory } from '../../platform/process/transaction-directory.js';
import { commitPlan, concludeDone, KIND } from './sweep-transactions.js';
import {
  type DonePlan,
  type FailedChange,
  isAsPrinted,
  oldVersion,
  type PlannedChange,
  printOf,
  type TransactionPlan,
} from './transaction-plan.js';

/** What takes the changes of a transaction back. Paths are absolute. */
export interface TransactionUndo {
  readonly plan: TransactionPlan;
  readonly restored: readonly string[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * What has to be done so that everything is as it was before a transaction; what was changed since stays as it is.
 * Undefined: what it did is not known any more.
 * @param refusal why tools may not change a path
 */
export function planTransactionUndo(
  directory: string,
  refusal: (path: string, change: 'write' | 'delete') => string | undefined,
): TransactionUndo | undefined {
  const done = concludeDone(directory);
  if (done === undefined) return undefined;
  const undo = new Undo(done, toBinary(directory), refusal);
  undo.plan();
  return {
    plan: { version: 1, roots: done.roots, changes: [...undo.gone, ...undo.come] },
    restored: undo.restored,
    skipped: undo.skipped,
  };
}

/** Where an undo keeps what it replaces; beside the transaction. */
export function undoDirectory(directory: string): string {
  return makeOwnDirectory(directory.slice(0, directory.lastIndexOf('/')), KIND, ['old']);
}

/** @returns what could not be done. */
export async function commitUndo(
  directory: string,
  plan: TransactionPlan,
): Promise<readonly { readonly path: string; readonly reason: string }[]> {
  const { failed } = await commitPlan(directory, plan);
  return failed.map(({ index, reason }: FailedChange) => {
    const change = plan.changes[index];
    return { path: change === undefined ? '' : absolute(plan, change), reason };
  });
}

function absolute({ roots }: TransactionPlan, { root, path }: PlannedChange): string {
  return `${roots[root] ?? ''}/${toText(path)}`;
}

const AS_BEFORE = 'it is as it was before';
const CHANGED = 'it was changed since';
const NOT_KEPT = 'its old content was not kept';

class Undo {
  readonly gone: PlannedChange[] = [];
  readonly come: PlannedChange[] = [];
  readonly restored: string[] = [];
  readonly skipped: { readonly path: string; readonly reason: string }[] = [];
  readonly #done: DonePlan;
  readonly #directory: BinaryPath;
  readonly #refusal: (path: string, change: 'write' | 'delete') => string | undefined;

  constructor(
    done: DonePlan,
    directory: BinaryPath,
    refusal: (path: string, change: 'write' | 'delete') => string | undefined,
  ) {
    this.#done = done;
    this.#directory = directory;
    this.#refusal = refusal;
  }

  /** What came last goes first. */
  plan(): void {
    const failed = new Set(this.#done.failed.map(({ index }) => index));
    const { changes, roots } = this.#done;
    /** Whether the directory that the next changes came or went with is put back. */
    let isTreeBack = false;
    for (let index = changes.length - 1; index >= 0; index--) {
      const change = changes[index];
      if (change === undefined || failed.has(index)) continue;
      if (change.isInside === true) {
        if (isTreeBack) this.restored.push(absolute(this.#done, change));
        continue;
      }
      const at = `${toBinary(roots[change.root] ?? '')}/${change.path}`;
      const step = { change, now: binaryEntry(at), old: oldVersion(this.#directory, index) };
      const why = this.#refusalOf(change) ?? STEPS[change.change](this, step);
      if (change.isTree === true) isTreeBack = why === undefined;
      const path = absolute(this.#done, change);
      if (why === undefined) this.restored.push(path);
      else if (why !== '') this.skipped.push({ path, reason: why });
    }
  }

  #refusalOf(change: PlannedChange): string | undefined {
    return this.#refusal(absolute(this.#done, change), change.change === 'create' ? 'delete' : 'write');
  }
}

interface UndoStep {
  readonly change: PlannedChange;
  readonly now: BinaryEntry | undefined;
  readonly old: BinaryPath;
}

/** Each says why a change is not taken back; empty: it needs no word. */
const STEPS: Readonly<Record<PlannedChange['change'], (undo: Undo, step: UndoStep) => string | undefined>> = {
  create(undo, { change, now }) {
    const { kind, root, path } = change;
    if (now === undefined) return change.kind === 'dir' ? '' : AS_BEFORE;
    if (!isAsPrinted(now, change.after)) return CHANGED;
    undo.gone.push({
      change: 'delete',
      kind,
      root,
      path,
      before: printOf(now),
      ...(change.isTree === true ? { isTree: true } : {}),
    });
    return undefined;
  },
  modify(undo, { change, now, old }) {
    const { kind, root, path, before, after } = change;
    if (kind === 'dir') {
      if (now?.kind !== 'dir' || (now.mode & 0o1777) !== ((after?.mode ?? 0) & 0o1777)) return CHANGED;
      undo.come.push({
        change: 'modify',
        kind,
        root,
        path,
        before: printOf(now),
        ...(before === undefined ? {} : { after: before }),
      });
      return undefined;
    }
    if (isAsPrinted(now, before)) return AS_BEFORE;
    if (now === undefined || !isAsPrinted(now, after)) return CHANGED;
    const kept = binaryEntry(old);
    if (kept === undefined) return NOT_KEPT;
    undo.come.push({
      change: 'modify',
      kind,
      root,
      path,
      from: old,
      before: printOf(now),
      after: printOf(kept),
    });
    return undefined;
  },
  delete(undo, { change, now, old }) {
    const { kind, root, path, before, isTree } = change;
    if (now !== undefined) return isAsPrinted(now, before) ? AS_BEFORE : 'something else is there';
    if (kind === 'dir' && isTree !== true) {
      undo.come.push({
        change: 'create',
        kind,
        root,
        path,
        ...(before === undefined ? {} : { after: before }),
      });
      return undefined;
    }
    const kept = binaryEntry(old);
    if (kept === undefined) return NOT_KEPT;
    const tree = isTree === true ? ({ isTree } as const) : {};
    undo.come.push({ change: 'create', kind, root, path, from: old, after: printOf(kept), ...tree });
    return undefined;
  },
};
