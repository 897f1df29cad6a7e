import { loadPeer } from '../../base/load-peer.js';
import type { Journal } from '../../contract/journal.js';
import type { PostgresJournalOptions } from './open-postgres-journal.js';

// Without the package, the rest of the door still works: workers over a journal in a file need no Postgres.
const loaded = await loadPeer(
  'postgresJournal of toolexec/fleet',
  { name: 'pg', range: '^8.16.0' },
  () => import('./open-postgres-journal.js'),
).catch((error: unknown) => ({ error }));

/**
 * A journal in Postgres, for processes of one or many machines. It connects with its first operation, and creates or
 * updates its schema then.
 * @throws ToolError `config_invalid` for a wrong option, or if the package `pg` is not installed
 */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  if ('error' in loaded) throw loaded.error;
  return loaded.postgresJournal(options);
}
