import type { Journal, Worker } from '../contract/journal.js';
import { newWorkerOfThisProcess } from '../platform/process/worker-of-this-process.js';
import type { ConversationQueue } from './queue.js';

/** The state that all executors over one open journal share. */
export interface JournalSession {
  /** The name under which they claim calls. */
  readonly worker: Worker;
  /** The queues of named conversations in which calls are running. */
  readonly queues: Map<string, ConversationQueue>;
}

const sessions = new WeakMap<Journal, JournalSession>();

/**
 * The session of an open journal. Executors that share the journal share it, so their conflicting calls of one
 * conversation are in one queue. Two journals over one file are two sessions, like two processes.
 *
 * @param journal null: nothing is recorded, so nothing is shared.
 */
export function sessionOf(journal: Journal | null): JournalSession {
  const known = journal === null ? undefined : sessions.get(journal);
  if (known !== undefined) return known;
  const session: JournalSession = { worker: newWorkerOfThisProcess(), queues: new Map() };
  if (journal !== null) sessions.set(journal, session);
  return session;
}
