import { loadPeer } from '../../base/load-peer.js';
import type { Journal } from '../../contract/journal.js';
import type { PostgresJournalOptions } from './open-postgres-journal.js';

const loaded = await loadPeer(
  'toolexec/fleet',
  { name: 'pg', range: '^8.16.0' },
  () => import('./open-postgres-journal.js'),
);

/**
 * A journal in Postgres, for processes of one or many machines. It connects with its first operation, and creates or
 * updates its schema then.
 * @throws ToolError `config_invalid` for a wrong option
 */
export const postgresJournal = (options: PostgresJournalOptions): Journal => loaded.postgresJournal(options);
