import { setFlagsFromString } from 'node:v8';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { floorCall } from './floor-call.js';
import { median } from './measure.js';
import { noOpCalls, noOpTool } from './no-op.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { openMcp } from './peers/open-mcp.js';
import type { Beside, Row } from './row.js';

const CALLS = 4_000;

/** What `executor.run` allocates. The young generation is so large that nothing is collected while it is counted. */
export async function measureBytes(scale: Scale): Promise<readonly Row[]> {
  // Code that is still being made faster would be counted as well.
  setFlagsFromString('--no-concurrent-recompilation');
  const executor = toolexec.createExecutor({ tools: [noOpTool()], limits: { maxToolCallsPerBatch: 1_000 } });
  const floor = floorCall();
  const floorBytes = await bytesOf(scale, 1, () => floor(NO_OP_ARGS));
  const mcp = await openMcp();
  const mcpBytes = 'skipped' in mcp ? undefined : await bytesOf(scale, 1, () => mcp.call(NO_OP_ARGS));
  const rows: Row[] = [];
  for (const size of [1, 8, 1_000]) {
    const calls = noOpCalls(size);
    const ours = await bytesOf(scale, size, () => executor.run(calls));
    rows.push({
      what: size === 1 ? 'one at a time' : `in batches of ${size.toLocaleString('en')}`,
      unit: 'bytes',
      ours,
      beside: { name: 'floor', value: floorBytes, ratio: ours / floorBytes },
      goal: { of: 'ours', atMost: 8 * 1024 },
    });
    if (size === 1)
      rows.push({ what: 'one at a time', unit: 'bytes', ours, beside: besideMcp(mcp, mcpBytes, ours) });
  }
  if (!('skipped' in mcp)) await mcp.close();
  await executor.close();
  return rows;
}

function besideMcp(mcp: object, bytes: number | undefined, ours: number): Beside {
  const name = 'MCP in memory';
  if (bytes !== undefined) return { name, value: bytes, ratio: ours / bytes };
  return { name, skipped: 'skipped' in mcp ? String(mcp.skipped) : '' };
}

async function bytesOf(scale: Scale, size: number, step: () => Promise<unknown>): Promise<number> {
  if (global.gc === undefined) throw new Error('Bytes can only be counted with --expose-gc.');
  const rounds = scale === 'quick' ? 2 : 12;
  const steps = Math.ceil(CALLS / size);
  const samples: number[] = [];
  // The first half warms up.
  for (let round = -rounds; round < rounds; round++) {
    global.gc();
    const before = process.memoryUsage().heapUsed;
    for (let done = 0; done < steps; done++) await step();
    const bytes = process.memoryUsage().heapUsed - before;
    if (round >= 0) samples.push(bytes / (steps * size));
  }
  return median(samples);
}
