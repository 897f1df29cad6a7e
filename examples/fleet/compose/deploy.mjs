import { setTimeout as pause } from 'node:timers/promises';
import { defineTool } from 'toolexec';

/** Both sides know the tool: the host plans and approves its calls, the worker runs them. */
export const deploy = defineTool({
  name: 'deploy',
  description: 'deploys a service',
  input: { type: 'object', properties: { service: { type: 'string' } }, required: ['service'] },
  effects: ({ service }) => [
    { kind: 'call', server: 'cluster', tool: 'deploy', access: 'write', resource: String(service) },
  ],
  async execute({ service }) {
    await pause(200);
    return `${service} is live`;
  },
});
