import { type Apart, type ApartTask, runApart } from './apart.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type RoundOptions } from './measure.js';
import { noOpCalls, noOpTool } from './no-op.js';
import { type Goal, type Row, toRow } from './row.js';

/** Two milliseconds of work and more, for each of them: less would measure the clock, more meets other programs. */
const OUR_CALLS = 2_000;
const FLOOR_CALLS = 40_000;
const MCP_CALLS = 200;

// The floors are what they take on a quiet machine.
const ONE: Goal = { of: 'ours', atMost: 10, whereBesideIs: 0.19 };
const MANY: Goal = { of: 'ours', atMost: 5, whereBesideIs: 0.32 };

/** The whole of `executor.run` beside the floor, and beside an MCP client and server linked in memory. */
export async function measureCall(scale: Scale): Promise<readonly Row[]> {
  const rounds = { rounds: scale === 'quick' ? 3 : 60, warmUps: scale === 'quick' ? 1 : 15 };
  const executor = toolexec.createExecutor({
    tools: [noOpTool()],
    limits: { maxToolCallsPerBatch: 1_000 },
  });
  const ours = (size: number): Contender => {
    const calls = noOpCalls(size);
    const batches = Math.ceil(OUR_CALLS / size);
    return {
      units: batches * size,
      async run() {
        for (let done = 0; done < batches; done++) await executor.run(calls);
      },
    };
  };
  const rows = [
    ...(await beside('floor', FLOOR_CALLS, ours, rounds)),
    ...(await beside('mcp', MCP_CALLS, ours, rounds)),
  ];
  await executor.close();
  return rows;
}

const TITLES = { floor: 'floor', mcp: 'MCP in memory' };

async function beside(
  name: 'floor' | 'mcp',
  calls: number,
  ours: (size: number) => Contender,
  rounds: RoundOptions,
): Promise<Row[]> {
  const apart = await runApart(name);
  if ('skipped' in apart) {
    return [{ what: 'one at a time', unit: 'µs', beside: { name: TITLES[name], skipped: apart.skipped } }];
  }
  const timing = await interleave(
    { one: ours(1), eight: ours(8), thousand: ours(1_000), ...contenders(apart, calls) },
    rounds,
  );
  apart.close();
  const goals = name === 'floor' ? { one: ONE, many: MANY } : {};
  const eightAtOnce = [`${TITLES[name]}, 8 at once`, timing.besideEight] as const;
  return [
    toRow('one at a time', timing.one, [TITLES[name], timing.besideOne], computing(goals.one)),
    toRow('in batches of 8', timing.eight, eightAtOnce, computing(goals.many)),
    toRow('in batches of 1,000', timing.thousand, eightAtOnce, computing(goals.many)),
  ];
}

function contenders({ contender }: Apart, calls: number): { besideOne: Contender; besideEight: Contender } {
  const task = (together: number): ApartTask => ({ calls, together });
  return { besideOne: contender(task(1)), besideEight: contender(task(8)) };
}

function computing(goal: Goal | undefined): { readonly computing: true; readonly goal?: Goal } {
  return goal === undefined ? { computing: true } : { computing: true, goal };
}
