export type { Dispatcher } from './contract/fleet.js';
export { createFleetServer, type FleetServer, type FleetServerOptions } from './fleet/create-fleet-server.js';
export { createWorker, type WorkerOptions } from './fleet/create-worker.js';
export { graphileDispatcher } from './fleet/dispatch/graphile.js';
export { pgBossDispatcher } from './fleet/dispatch/pg-boss.js';
export type { QueueDispatcher, QueueDispatcherOptions } from './fleet/dispatch/queue-dispatcher.js';
export type { FleetWorker } from './fleet/fleet-worker.js';
export type { PostgresJournalOptions } from './journal/postgres/open-postgres-journal.js';
export { postgresJournal } from './journal/postgres/postgres-peer.js';
