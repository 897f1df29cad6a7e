export type { Dispatcher } from './contract/fleet.js';
export { createWorker, type WorkerOptions } from './fleet/create-worker.js';
export type { FleetWorker } from './fleet/fleet-worker.js';
export type { PostgresJournalOptions } from './journal/postgres/open-postgres-journal.js';
export { postgresJournal } from './journal/postgres/postgres-peer.js';
