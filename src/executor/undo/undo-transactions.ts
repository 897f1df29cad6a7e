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
            // Before anything is changed: the process that finds it completes it.
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

/** How often others may change something while it is put back. */
const MAX_ATTEMPTS = 3;

/** What was to be put back by the first plan, and is not by a later one. */
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

/** What lies in a repository was changed by git, and goes back as it came. */
function refusalOf(path: string, sandbox: Sandbox): string | undefined {
  if (sandbox.rootOf?.(path) === undefined) return 'it lies outside of the roots';
  const isHidden = sandbox.denied?.(path, 'read') !== undefined;
  const isGuarded = sandbox.denied?.(path, 'write') !== undefined && !/\/\.git(\/|$)/.test(path);
  return isHidden || isGuarded ? 'tools may not change it' : undefined;
}
