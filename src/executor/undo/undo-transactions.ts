import type { SkippedFile } from '../../contract/executor.js';
import type { Sandbox } from '../../contract/files.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { transactionsIn } from '../record/noted-transactions.js';

/** The planned undo of one transaction. */
export interface PlannedTransactionUndo {
  readonly plan: { readonly changes: readonly unknown[] };
  /** Absolute paths. */
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** @returns the files that could not be restored. */
  readonly commit: (note: (data: JsonObject) => Promise<void>) => Promise<readonly SkippedFile[]>;
}

/** The directories of a call's transactions that were not discarded, the last one first. */
export async function readTransactions({ key }: CallRecord, journal: Journal): Promise<readonly string[]> {
  const notes = await journal.notes(key);
  return transactionsIn(notes)
    .filter(({ state }) => state !== 'discarded')
    .map(({ directory }) => directory)
    .reverse();
}

/** Plans the undo of transactions, with the same rules as for file tools. */
export async function planTransactions(
  directories: readonly string[],
  sandbox: Sandbox,
): Promise<readonly PlannedTransactionUndo[]> {
  if (directories.length === 0) return [];
  const { isTransactionDirectory } = await import('../../commands/transaction/sweep-transactions.js');
  const { planTransactionUndo, undoDirectory, commitUndo } = await import(
    '../../commands/transaction/undo-plan.js'
  );
  const planOne = (directory: string) => planTransactionUndo(directory, (path) => refusalOf(path, sandbox));
  return directories.filter(isTransactionDirectory).flatMap((directory): PlannedTransactionUndo[] => {
    const first = planOne(directory);
    if (first === undefined) return [];
    return [
      {
        ...first,
        async commit(note) {
          for (
            let attempt = 1, undo: typeof first | undefined = first;
            ;
            attempt++, undo = planOne(directory)
          ) {
            const skipped = undo === undefined ? [] : lostSince(first, undo);
            if (undo === undefined || undo.plan.changes.length === 0) return skipped;
            const own = undoDirectory(directory);
            // Noted before any change, so that recovery completes the undo if this process dies.
            await note({ transaction: own, state: 'begun', network: false });
            const { isTakenBack, failed } = await commitUndo(own, undo.plan);
            await note({ transaction: own, state: isTakenBack ? 'discarded' : 'committed', network: false });
            if (!isTakenBack || attempt === MAX_ATTEMPTS) return [...skipped, ...failed];
          }
        },
      },
    ];
  });
}

/** How many attempts are made when other processes change files during the undo. */
const MAX_ATTEMPTS = 3;

/** Files that the first plan would restore, and a later plan does not. */
function lostSince(
  first: Pick<PlannedTransactionUndo, 'restored'>,
  later: Pick<PlannedTransactionUndo, 'restored' | 'skipped'>,
): readonly SkippedFile[] {
  const restored = new Set(later.restored);
  const reasons = new Map(later.skipped.map(({ path, reason }) => [path, reason]));
  return first.restored
    .filter((path) => !restored.has(path))
    .map((path) => ({ path, reason: reasons.get(path) ?? 'it was changed since' }));
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
