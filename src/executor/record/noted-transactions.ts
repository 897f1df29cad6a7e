import type { JournalNote } from '../../contract/journal.js';

/** A transaction of a call, as its notes describe it. */
export interface NotedTransaction {
  readonly directory: string;
  readonly state: 'begun' | 'committed' | 'discarded';
  /** The command could use the network. */
  readonly network: boolean;
}

/** The transactions of a call, in the order in which they began. */
export function transactionsIn(notes: readonly JournalNote[]): readonly NotedTransaction[] {
  const found = new Map<string, NotedTransaction>();
  for (const { kind, data } of notes) {
    const { transaction: directory, state, network } = data;
    if (kind !== 'process' || typeof directory !== 'string') continue;
    if (state !== 'begun' && state !== 'committed' && state !== 'discarded') continue;
    found.set(directory, { directory, state, network: network !== false });
  }
  return [...found.values()];
}
