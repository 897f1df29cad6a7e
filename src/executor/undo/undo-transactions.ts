import { AS_BEFORE, type SkippedFile } from '../../contract/executor.js';
import type { Sandbox } from '../../contract/files.js';
import type { UndoRecord } from './undo-record.js';

/** The planned undo of one transaction. Paths are absolute. */
interface PlannedTransactionUndo {
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
  readonly isEmpty: boolean;
  restore(undo: Pick<UndoRecord, 'note'>): Promise<Pick<PlannedTransactionUndo, 'restored' | 'skipped'>>;
}

/** Plans the undo of a transaction, with the same rules as for file tools. Empty if its changes are no longer known. */
export async function planTransaction(directory: string, sandbox: Sandbox): Promise<PlannedTransactionUndo> {
  const { isTransactionDirectory } = await import('../../commands/transaction/sweep-transactions.js');
  const { planTransactionUndo, undoDirectory, commitUndo } = await import(
    '../../commands/transaction/undo-plan.js'
  );
  const { takeCommitTurn } = await import('../../commands/transaction/commit-turn.js');
  const plan = () =>
    isTransactionDirectory(directory)
      ? planTransactionUndo(directory, (path) => refusalOf(path, sandbox))
      : undefined;
  const first = plan();
  const { restored = [], skipped = [] } = first ?? {};
  return {
    restored,
    skipped,
    isEmpty: first === undefined || first.plan.changes.length === 0,
    async restore(undo) {
      const turn = await takeCommitTurn(first?.plan.roots ?? []);
      try {
        for (let attempt = 1; ; attempt++) {
          // Planned in its turn: another process may have undone the same call meanwhile.
          const now = plan();
          if (now === undefined || now.plan.changes.length === 0) return without(restored, now);
          const own = undoDirectory(directory);
          // Noted before any change, so that recovery completes the undo if this process dies.
          await undo.note({ transaction: own, state: 'begun', network: false });
          const { isTakenBack, failed } = await commitUndo(own, now.plan);
          await undo.note({
            transaction: own,
            state: isTakenBack ? 'discarded' : 'committed',
            network: false,
          });
          if (!isTakenBack || attempt === MAX_ATTEMPTS) return without(restored, now, failed);
        }
      } finally {
        turn.release();
      }
    },
  };
}

/** How many attempts are made when other processes change files during the undo. */
const MAX_ATTEMPTS = 3;

/**
 * The report of a plan, without the changes that failed.
 * @param expected the files that the first plan would restore; a later one may not
 */
function without(
  expected: readonly string[],
  now: Pick<PlannedTransactionUndo, 'restored' | 'skipped'> | undefined,
  failed: readonly SkippedFile[] = [],
): Pick<PlannedTransactionUndo, 'restored' | 'skipped'> {
  const skipped = new Map([...(now?.skipped ?? []), ...failed].map((one) => [one.path, one]));
  const restored = new Set(now?.restored.filter((path) => !skipped.has(path)));
  for (const path of expected) {
    if (restored.has(path) || skipped.has(path)) continue;
    // A plan names no directory that is as before.
    skipped.set(path, { path, reason: now === undefined ? 'it was changed since' : AS_BEFORE });
  }
  return { restored: [...restored], skipped: [...skipped.values()] };
}

/**
 * The reason why a path must not be restored. The transaction was allowed to change files in `.git`, and hidden files
 * that git replaced or a person approved: these may be restored.
 */
function refusalOf(path: string, sandbox: Sandbox): string | undefined {
  if (sandbox.rootOf?.(path) === undefined) return 'it lies outside of the roots';
  const isHidden = sandbox.denied?.(path, 'read') !== undefined;
  const isGuarded = sandbox.denied?.(path, 'write') !== undefined && !/\/\.git(\/|$)/.test(path);
  return isGuarded && !isHidden ? 'tools may not change it' : undefined;
}
