// A worker of a fleet: it takes calls from the journal until it is drained.
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { defineTool } from 'toolexec';
import { createWorker } from 'toolexec/fleet';

export const deploy = defineTool({
  name: 'deploy',
  description: 'deploys a service',
  input: {
    type: 'object',
    properties: { service: { type: 'string' } },
    required: ['service'],
    additionalProperties: false,
  },
  effects: ({ service }) => [
    { kind: 'call', server: 'cluster', tool: 'deploy', access: 'write', resource: String(service) },
  ],
  async execute({ service }, { cwd }) {
    appendFileSync(join(cwd, 'deployed'), `${service}\n`);
    // The example holds this one up, and kills its worker.
    while (service === 'slow' && !existsSync(join(cwd, 'go')))
      await new Promise((done) => setTimeout(done, 20));
    return `${service} is live`;
  },
});

const [root, journal] = process.argv.slice(2);
if (root !== undefined && journal !== undefined) {
  // #region worker
  const worker = createWorker({ journal, root, tools: [deploy], concurrency: 2, leaseMs: 2_000 });
  process.once('SIGTERM', () => void worker.drain());
  // #endregion worker
  process.stdout.write('ready\n');
}
