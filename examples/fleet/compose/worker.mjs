// Runs calls until SIGTERM: then it takes no new ones, and lets the running ones end.
import { createWorker, postgresJournal } from 'toolexec/fleet';
import { deploy } from './deploy.mjs';

const journal = postgresJournal({ url: process.env.DATABASE_URL });
const worker = createWorker({ journal, tools: [deploy], policy: null, concurrency: 4, leaseMs: 10_000 });
console.log(`worker ${worker.id} takes calls`);
process.once('SIGTERM', async () => {
  await worker.drain();
  await journal.close();
});
