// Hands a call over each second, and prints its result, until a signal ends it.
import { setTimeout as pause } from 'node:timers/promises';
import { createExecutor } from 'toolexec';
import { postgresJournal } from 'toolexec/fleet';
import { deploy } from './deploy.mjs';

const journal = postgresJournal({ url: process.env.DATABASE_URL });
const host = createExecutor({
  journal,
  tools: [deploy],
  approver: null,
  fleet: { run: 'anywhere', startDeadlineMs: 60_000 },
});
let isEnding = false;
process.once('SIGTERM', () => {
  isEnding = true;
});
for (let number = 1; !isEnding; number++) {
  const [result] = await host.run([
    { id: `call-${number}`, name: 'deploy', args: { service: `web-${number}` } },
  ]);
  console.log(result.error?.code ?? result.output);
  await pause(1_000);
}
await host.close();
await journal.close();
