import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { noOpCalls, noOpTool } from './no-op.js';
import type { Row } from './row.js';

const MEGABYTE = 1024 * 1024;

/** The heap after a tenth of the calls, and after all of them. */
export async function measureMemory(scale: Scale): Promise<readonly Row[]> {
  const most = scale === 'quick' ? 10_000 : 1_000_000;
  const rows: Row[] = [];
  for (const size of [1, 8]) {
    const executor = toolexec.createExecutor({ tools: [noOpTool()] });
    const calls = noOpCalls(size);
    const run = async (count: number): Promise<void> => {
      for (let done = 0; done < count; done += size) await executor.run(calls);
    };
    await run(most / 10);
    const early = heapMegabytes();
    await run(most - most / 10);
    const late = heapMegabytes();
    rows.push({
      what: `${most.toLocaleString('en')} calls, ${size === 1 ? 'one at a time' : `in batches of ${size}`}`,
      unit: 'MB',
      ours: late,
      beside: { name: `after ${(most / 10).toLocaleString('en')}`, value: early, ratio: late / early },
      goal: { of: 'difference', atMost: 1 },
    });
    await executor.close();
  }
  return rows;
}

function heapMegabytes(): number {
  if (global.gc === undefined) throw new Error('Memory can only be measured with --expose-gc.');
  // Twice: objects that the first collection finalizes are free only after the second.
  global.gc();
  global.gc();
  return process.memoryUsage().heapUsed / MEGABYTE;
}
