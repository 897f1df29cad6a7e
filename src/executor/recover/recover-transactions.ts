import type { JournalNote } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { changesMetadata } from '../../tools/command-changes.js';
import type { RecoverySettings } from '../call/settings.js';
import { transactionsIn } from '../record/noted-transactions.js';

/** The outcome of recovery for the changes of a transaction. */
export type RecoveredChanges = 'whole' | 'partly' | 'conflict' | 'none';

/**
 * Completes the transactions of a call whose process is dead, and adds the outcomes to the notes. If the
 * process died before it began to write changes, no file has changed.
 */
export async function recoverTransactions(
  notes: readonly JournalNote[],
  {
    clock,
    sandbox,
  }: Pick<RecoverySettings, 'clock'> & { readonly sandbox: Pick<RecoverySettings['sandbox'], 'roots'> },
): Promise<readonly JournalNote[]> {
  const left = transactionsIn(notes).filter(({ state }) => state === 'begun');
  if (left.length === 0) return notes;
  const { isTransactionDirectory, recoverTransaction } = await import(
    '../../commands/transaction/sweep-transactions.js'
  );
  const { withoutSpared } = await import('../../commands/transaction/transaction-plan.js');
  const { reportChanges } = await import('../../commands/transaction/report-changes.js');
  const first = sandbox.roots[0] ?? '';
  const settled = left
    .filter(({ directory }) => isTransactionDirectory(directory))
    .map(({ directory, network }): JournalNote => {
      const { state, done } = recoverTransaction(directory);
      const data = { transaction: directory, state, network };
      if (done === undefined) return { kind: 'process', at: clock.now(), data };
      const { exitCode, failed, left: stuck = [], isTakenBack = false, leftOut = [] } = done;
      const isConflict = [...failed, ...stuck, ...leftOut].some((failure) => failure.isConflict);
      const isWhole = failed.length === 0 && stuck.length === 0 && !isConflict;
      const settledAs: RecoveredChanges = isWhole
        ? 'whole'
        : isConflict
          ? 'conflict'
          : isTakenBack
            ? 'none'
            : 'partly';
      const report = reportChanges({
        ...withoutSpared(done),
        roots: done.roots,
        first,
        // If none of a command's changes are kept, only the obstacles are listed.
        leftOut: isTakenBack ? [] : leftOut,
        keepVersion: undefined,
      });
      const { changes } = changesMetadata(report, undefined);
      return {
        kind: 'process',
        at: clock.now(),
        data: {
          ...data,
          settled: settledAs,
          changes: changes ?? {},
          ...(typeof exitCode === 'number' && { exitCode }),
        },
      };
    });
  return [...notes, ...settled];
}

/**
 * The outcome of the last transaction, if recovery found its plan. For a call with a single command, it
 * covers all changes.
 */
export function recoveredChanges(
  notes: readonly JournalNote[],
): { readonly settled: RecoveredChanges; readonly changes: JsonObject } | undefined {
  const { settled, changes } = notes.findLast(({ data }) => data.settled !== undefined)?.data ?? {};
  return isSettled(settled) && isJsonObject(changes) ? { settled, changes } : undefined;
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSettled(value: unknown): value is RecoveredChanges {
  return value === 'whole' || value === 'partly' || value === 'conflict' || value === 'none';
}
