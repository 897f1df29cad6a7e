import type { JournalNote } from '../../contract/journal.js';
import { transactionsIn } from '../record/noted-transactions.js';

/**
 * Brings the transactions of a call to their end whose process is dead, and adds what became of them to what is known.
 * Where a process dies before it has begun to make changes, it has changed nothing.
 */
export async function settleTransactions(
  notes: readonly JournalNote[],
  at: number,
): Promise<readonly JournalNote[]> {
  const left = transactionsIn(notes).filter(({ state }) => state === 'begun');
  if (left.length === 0) return notes;
  const { isTransactionDirectory, settleLeft } = await import(
    '../../commands/transaction/sweep-transactions.js'
  );
  const settled = left
    .filter(({ directory }) => isTransactionDirectory(directory))
    .map(({ directory, network }): JournalNote => {
      const { state, exitCode } = settleLeft(directory);
      const code = typeof exitCode === 'number' ? { exitCode } : {};
      return { kind: 'process', at, data: { transaction: directory, state, network, ...code } };
    });
  return [...notes, ...settled];
}
