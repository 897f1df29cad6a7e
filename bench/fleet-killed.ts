import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { toolexec, toolexecFleet } from './built.js';
import type { Scale } from './contents.js';
import { median } from './measure.js';
import type { Row } from './row.js';

const LEASE_MS = 2_000;
const GOAL_MS = LEASE_MS + 2_000;

/** A worker whose only tool prints a line and then never ends. */
const WORKER = `
  import { defineTool } from 'toolexec';
  import { createWorker, postgresJournal } from 'toolexec/fleet';
  const [url, tenant, leaseMs] = process.argv.slice(1);
  const execute = () => new Promise((resolve) => {
    process.stdout.write('begun\\n');
    setTimeout(resolve, 3_600_000);
  });
  const tool = defineTool({ name: 'wait', description: 'Never ends.', input: { type: 'object' }, execute });
  createWorker({ journal: postgresJournal({ url, tenant }), tools: [tool], policy: null, leaseMs: Number(leaseMs) });
`;

/**
 * The time from the end of a worker until its host has the answer that the outcome of the call is not known. A worker that was
 * killed on the host's own machine is gone at once; one that is stopped looks like one on a machine that has died.
 */
export async function measureKilled(url: string, scale: Scale): Promise<readonly Row[]> {
  return [...(await endWorkers(url, 'SIGKILL', scale)), ...(await endWorkers(url, 'SIGSTOP', scale))];
}

async function endWorkers(url: string, signal: 'SIGKILL' | 'SIGSTOP', scale: Scale): Promise<readonly Row[]> {
  const tenant = signal;
  const journal = toolexecFleet.postgresJournal({ url, tenant });
  const tool = toolexec.defineTool({
    name: 'wait',
    description: 'Never ends.',
    input: { type: 'object' },
    execute: () => '',
  });
  const host = toolexec.createExecutor({
    ...{ journal, tools: [tool], policy: null, fleet: { run: 'anywhere' } },
  });
  const times: number[] = [];
  for (let round = 0; round < (scale === 'quick' ? 1 : 7); round++) {
    const args = ['--input-type=module', '--eval', WORKER, url, tenant, String(LEASE_MS)];
    const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const running = host.run([{ id: `call_${round}`, name: 'wait', args: {} }], {
      conversation: `talk_${round}`,
    });
    await once(worker.stdout, 'data');
    const from = performance.now();
    worker.kill(signal);
    const [result] = await running;
    times.push(performance.now() - from);
    worker.kill('SIGKILL');
    if (result?.error?.code !== 'outcome_unknown') throw new Error('an ended worker left a false answer');
  }
  await host.close();
  await journal.close();
  const what = `the answer after ${signal} of a worker, lease of ${LEASE_MS / 1_000} s`;
  return [
    { what: `${what}, p50`, unit: 'ms', ours: median(times.sort((a, b) => a - b)) },
    { what: `${what}, longest`, unit: 'ms', ours: Math.max(...times), goal: { of: 'ours', atMost: GOAL_MS } },
  ];
}
