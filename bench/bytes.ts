import { type ApartName, runApart } from './apart.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { countBytes } from './count-bytes.js';
import { checkResults, noOpCalls, noOpTool } from './no-op.js';
import { PEER_NAMES, PEERS } from './peers/open-peer.js';
import type { Beside, Row } from './row.js';

const CALLS = 4_000;

/** The bytes that `executor.run` allocates, beside the floor and the peers. */
export async function measureBytes(scale: Scale): Promise<readonly Row[]> {
  const executor = toolexec.createExecutor({ tools: [noOpTool()], limits: { maxToolCallsPerBatch: 1_000 } });
  const bytesOf = (together: number): Promise<number> => {
    const calls = noOpCalls(together);
    return countBytes(
      { scale, together, calls: CALLS },
      () => executor.run(calls),
      (results) => checkResults(results, together),
    );
  };
  const one = await bytesOf(1);
  const eight = await bytesOf(8);
  const thousand = await bytesOf(1_000);
  await executor.close();
  const floor = await bytesBeside('floor', scale);
  const goal = { of: 'ours', atMost: 8 * 1024 } as const;
  const rows: Row[] = [
    { what: 'one at a time', unit: 'bytes', ours: one, beside: beside('floor', floor.one, one), goal },
    {
      what: 'in batches of 8',
      unit: 'bytes',
      ours: eight,
      beside: beside('floor', floor.eight, eight),
      goal,
    },
    {
      what: 'in batches of 1,000',
      unit: 'bytes',
      ours: thousand,
      beside: beside('floor', floor.eight, thousand),
      goal,
    },
  ];
  for (const name of PEER_NAMES) {
    const peer = await bytesBeside(name, scale);
    const { title } = PEERS[name];
    rows.push({ what: 'one at a time', unit: 'bytes', ours: one, beside: beside(title, peer.one, one) });
    if (typeof peer.eight === 'string') continue;
    rows.push({
      what: 'in batches of 8',
      unit: 'bytes',
      ours: eight,
      beside: beside(title, peer.eight, eight),
    });
  }
  return rows;
}

/** Bytes a call, or why they are not known. */
interface BytesBeside {
  readonly one: number | string;
  readonly eight: number | string;
}

async function bytesBeside(name: ApartName, scale: Scale): Promise<BytesBeside> {
  const apart = await runApart(name);
  if ('skipped' in apart) return { one: apart.skipped, eight: apart.skipped };
  const calls = name === 'floor' ? CALLS : Math.min(CALLS, PEERS[name].calls * 20);
  const one = await apart.bytes({ calls, together: 1, counting: scale });
  const eight = await apart.bytes({ calls, together: 8, counting: scale });
  apart.close();
  return { one, eight };
}

function beside(name: string, bytes: number | string, ours: number): Beside {
  if (typeof bytes === 'string') return { name, skipped: bytes };
  return { name, value: bytes, ratio: ours / bytes };
}
