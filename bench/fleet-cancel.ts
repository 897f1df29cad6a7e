import { toolexec, toolexecFleet } from './built.js';
import type { Scale } from './contents.js';
import { median } from './measure.js';
import type { Row } from './row.js';

const GOAL_MS = 200;

/** The time from a host's `cancel()` until the tool in a worker of another connection sees its signal abort. */
export async function measureCancel(url: string, scale: Scale): Promise<readonly Row[]> {
  let begins = (): void => {};
  let stops = (): void => {};
  const tool = toolexec.defineTool({
    name: 'wait',
    description: 'Runs until it is cancelled.',
    input: { type: 'object' },
    effects: () => [],
    execute: async (_, { signal }) => {
      begins();
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      stops();
      return '';
    },
  });
  const open = () => toolexecFleet.postgresJournal({ url, tenant: 'cancel' });
  const [hosts, workers] = [open(), open()];
  const worker = toolexecFleet.createWorker({ journal: workers, tools: [tool], policy: null });
  const host = toolexec.createExecutor({
    ...{ journal: hosts, tools: [tool], policy: null, fleet: { run: 'anywhere' } },
  });
  const times: number[] = [];
  for (let round = 0; round < (scale === 'quick' ? 3 : 50); round++) {
    const [begun, stopped] = [new Promise<void>((r) => (begins = r)), new Promise<void>((r) => (stops = r))];
    const running = host.start([{ id: `call_${round}`, name: 'wait', args: {} }]);
    await begun;
    const from = performance.now();
    running.cancel();
    await stopped;
    times.push(performance.now() - from);
    await running.results;
  }
  await host.close();
  await worker.close();
  for (const journal of [hosts, workers]) await journal.close();
  const sorted = times.sort((a, b) => a - b);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  return [
    { what: 'a cancel reaches a running tool, p50', unit: 'ms', ours: median(sorted) },
    {
      ...{ what: 'a cancel reaches a running tool, p95', unit: 'ms', ours: p95 },
      goal: { of: 'ours', atMost: GOAL_MS },
    },
  ];
}
