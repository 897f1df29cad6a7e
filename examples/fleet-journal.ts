// A journal in Postgres, for processes of several machines. Here it is only opened: it connects with its first operation.
import assert from 'node:assert/strict';
import { builtinTools, createExecutor } from 'toolexec';
import { createWorker, type FleetWorker, graphileDispatcher, postgresJournal } from 'toolexec/fleet';

const root = process.cwd();
// #region journal
const journal = postgresJournal({
  url: process.env.DATABASE_URL ?? 'postgres://localhost/app',
  tenant: 'acme',
});
const executor = createExecutor({ root, tools: [builtinTools()], journal });
// #endregion journal

// #region queue
/** For a program that has graphile-worker: its queue carries the hints. A host names the dispatcher as `fleet.dispatcher`. */
async function startWorker(url: string): Promise<FleetWorker> {
  const dispatcher = await graphileDispatcher({ url });
  return createWorker({ journal, root, dispatcher });
}
// #endregion queue

assert.equal(typeof startWorker, 'function');
assert.ok(executor.definitions().length > 0);
await executor.close();
await journal.close();
