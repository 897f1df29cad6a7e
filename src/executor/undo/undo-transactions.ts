import type { SkippedFile } from '../../contract/executor.js';
import type { Sandbox } from '../../contract/files.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { transactionsIn } from '../record/noted-transactions.js';

/** What takes one transaction back. */
export interface PlannedTransactionUndo {
  readonly plan: { readonly changes: readonly unknown[] };
  /** Absolute. */
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
  /** @returns what could not be put back. */
  readonly commit: (note: (data: JsonObject) => Promise<void>) => Promise<readonly SkippedFile[]>;
}

/** The directories of the transactions of a call that were made real, the last first. */
export async function readTransactions({ key }: CallRecord, journal: Journal): Promise<readonly string[]> {
  const notes = await journal.notes(key);
  return transactionsIn(notes)
    .filter(({ state }) => state !== 'discarded')
    .map(({ directory }) => directory)
    .reverse();
}

/** The same rules hold as for file tools. */
export async function planTransactions(
  directories: readonly string[],
  sandbox: Sandbox,
): Promise<readonly PlannedTransactionUndo[]> {
  if (directories.length === 0) return [];
  const { isTransactionDirectory } = await import('../../commands/transaction/sweep-transactions.js');
  const { planTransactionUndo, undoDirectory, commitUndo } = await import(
    '../../commands/transaction/undo-plan.js'
  );
  return directories.filter(isTransactionDirectory).flatMap((directory): PlannedTransactionUndo[] => {
    const undo = planTransactionUndo(directory, (path) => refusalOf(path, sandbox));
    if (undo === undefined) return [];
    return [
      {
        ...undo,
        async commit(note) {
          if (undo.plan.changes.length === 0) return [];
          const own = undoDirectory(directory);
          // Before anything is changed: who finds it, finishes it.
          await note({ transaction: own, state: 'begun', network: false });
          const failed = await commitUndo(own, undo.plan);
          await note({ transaction: own, state: 'committed', network: false });
          return failed;
        },
      },
    ];
  });
}

/** What lies in a repository was changed by git, and goes back as it came. */
function refusalOf(path: string, sandbox: Sandbox): string | undefined {
  if (sandbox.rootOf?.(path) === undefined) return 'it lies outside of the roots';
  const isHidden = sandbox.denied?.(path, 'read') !== undefined;
  const isGuarded = sandbox.denied?.(path, 'write') !== undefined && !/\/\.git(\/|$)/.test(path);
  return isHidden || isGuarded ? 'tools may not change it' : undefined;
}
