export type { PostgresJournalOptions } from './journal/postgres/open-postgres-journal.js';
export { postgresJournal } from './journal/postgres/postgres-peer.js';
