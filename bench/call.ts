import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { floorCall, NO_OP_ARGS, noOpCalls, noOpTool } from './no-op.js';
import { openMcp } from './peers/open-mcp.js';
import { type Goal, type Row, toRow } from './row.js';

const CALLS_A_ROUND = 2_000;
/** It takes ten times as long and more. */
const MCP_CALLS_A_ROUND = 200;

const ONE: Goal = { of: 'ours', atMost: 10 };
const MANY: Goal = { of: 'ours', atMost: 5 };

/** The whole of `executor.run` beside the floor, and beside an MCP client and server in one process. */
export async function measureCall(scale: Scale): Promise<readonly Row[]> {
  const rounds = { rounds: scale === 'quick' ? 3 : 60, warmUps: scale === 'quick' ? 1 : 15 };
  const executor = toolexec.createExecutor({ tools: [noOpTool()], limits: { maxToolCallsPerBatch: 1_000 } });
  const run = (size: number): Contender => {
    const calls = noOpCalls(size);
    return repeat(CALLS_A_ROUND, size, () => executor.run(calls));
  };
  const floor = floorCall();
  const timing = await interleave(
    {
      one: run(1),
      eight: run(8),
      thousand: run(1_000),
      floor: repeat(CALLS_A_ROUND, 1, () => floor(NO_OP_ARGS)),
      floorOfEight: repeat(CALLS_A_ROUND, 8, () => together(8, () => floor(NO_OP_ARGS))),
    },
    rounds,
  );
  const beside = await measureMcp(run, rounds);
  await executor.close();
  return [
    toRow('one at a time', timing.one, ['floor', timing.floor], { computing: true, goal: ONE }),
    beside('one at a time', 'one', MCP_ONE),
    toRow('in batches of 8', timing.eight, ['floor', timing.floorOfEight], { computing: true, goal: MANY }),
    beside('in batches of 8', 'eight', MCP_EIGHT),
    toRow('in batches of 1,000', timing.thousand, ['floor', timing.floorOfEight], {
      computing: true,
      goal: MANY,
    }),
  ];
}

const MCP_ONE = 'MCP in memory';
const MCP_EIGHT = 'MCP in memory, 8 at once';

async function measureMcp(
  run: (size: number) => Contender,
  rounds: { readonly rounds: number; readonly warmUps: number },
): Promise<(what: string, ours: 'one' | 'eight', name: string) => Row> {
  const mcp = await openMcp();
  if ('skipped' in mcp) {
    return (what, _ours, name) => ({
      what,
      unit: 'µs',
      ours: Number.NaN,
      beside: { name, skipped: mcp.skipped },
    });
  }
  const timing = await interleave(
    {
      one: run(1),
      eight: run(8),
      mcpOne: repeat(MCP_CALLS_A_ROUND, 1, () => mcp.call(NO_OP_ARGS)),
      mcpEight: repeat(MCP_CALLS_A_ROUND, 8, () => together(8, () => mcp.call(NO_OP_ARGS))),
    },
    rounds,
  );
  await mcp.close();
  return (what, ours, name) =>
    toRow(what, timing[ours], [name, ours === 'one' ? timing.mcpOne : timing.mcpEight], { computing: true });
}

/** About `calls` calls, `size` of them with each step. */
function repeat(calls: number, size: number, step: () => Promise<unknown>): Contender {
  const steps = Math.ceil(calls / size);
  return {
    units: steps * size,
    async run() {
      for (let done = 0; done < steps; done++) await step();
    },
  };
}

function together(count: number, call: () => Promise<unknown>): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, call));
}
