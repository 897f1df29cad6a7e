import { join } from 'node:path';
import type { Executor } from '../src/contract/executor.js';
import type { Journal } from '../src/contract/journal.js';
import { BareJournal } from './bare-journal.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { type Goal, type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const CALLS_A_ROUND = 320;

const ALONE: Goal = { of: 'ratio', atMost: 1.25 };
const TOGETHER: Goal = { of: 'ratio', atMost: 1.4 };

/** A durable start and a durable result, beside bare SQLite transactions of the same rows on the same disk. */
export function measureJournal(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const journal = toolexec.openJournal(join(directory, 'journal.db'));
    const executor = toolexec.createExecutor({
      tools: [resourceTool()],
      policy: null,
      journal: join(directory, 'executor.db'),
    });
    const bare = new BareJournal(join(directory, 'bare.db'));
    await warmUp(executor, journal, scale);
    const rows: Row[] = [];
    for (const callers of [1, 8, 64])
      rows.push(...(await compare(callers, { executor, journal, bare }, scale)));
    await executor.close();
    await journal.close();
    bare.close();
    return rows;
  });
}

interface Stores {
  readonly executor: Executor;
  readonly journal: Journal;
  readonly bare: BareJournal;
}

/**
 * V8 compiles code that runs often, and the bare transactions have little code. Many callers warm it up
 * soonest.
 */
async function warmUp(executor: Executor, journal: Journal, scale: Scale): Promise<void> {
  for (let round = 0; round < (scale === 'quick' ? 1 : 60); round++) {
    await byCallers(64, () => executor.run(nextCall())).run();
    await byCallers(64, () => recordOne(journal)).run();
  }
}

async function compare(callers: number, { executor, journal, bare }: Stores, scale: Scale): Promise<Row[]> {
  const timing = await interleave(
    {
      executor: byCallers(callers, () => executor.run(nextCall())),
      journal: byCallers(callers, () => recordOne(journal)),
      bare: {
        units: CALLS_A_ROUND,
        run() {
          for (let done = 0; done < CALLS_A_ROUND; done += callers) bare.record(callers);
        },
      },
    },
    { rounds: scale === 'quick' ? 2 : 20, warmUps: scale === 'quick' ? 1 : 4 },
  );
  const who = callers === 1 ? 'one caller' : `${callers} callers at once`;
  const goal = callers === 1 ? ALONE : TOGETHER;
  const beside = ['bare transactions', timing.bare] as const;
  return [
    toRow(`executor.run, ${who}`, timing.executor, beside, { computing: false, goal }),
    toRow(`the journal alone, ${who}`, timing.journal, beside, { computing: false }),
  ];
}

/** A side effect on a resource of the call's own: calls that conflict would wait for each other. */
function resourceTool() {
  return toolexec.defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input: { type: 'object' },
    effects: ({ count }: { count?: number }) => [
      { kind: 'call', server: 's', tool: 'noop', access: 'write', resource: String(count) },
    ],
    execute: () => 'hello world',
  });
}

/** As many digits in each, so that all rows are of one length. */
let runs = 100_000;

function nextCall() {
  return [{ id: 'call_0', name: 'noop', args: { ...NO_OP_ARGS, count: ++runs } }];
}

function byCallers(callers: number, call: () => Promise<unknown>): Contender {
  return {
    units: CALLS_A_ROUND,
    async run() {
      let left = CALLS_A_ROUND;
      const caller = async (): Promise<void> => {
        while (left-- > 0) await call();
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
  };
}

const WORKER = { id: 'worker', pid: 1, startedAt: 1 };
let batches = 0;

/** The requests of the executor to the journal for one call: accept and claim in one turn, then finish. */
async function recordOne(journal: Journal): Promise<void> {
  const id = `01234567-89ab-cdef-0123-456789abcdef-${++batches}`;
  const accepted = journal.accept({ id, conversation: 'conversation', attach: false, at: 1, calls: [ENTRY] });
  const claimed = journal.claim(`${id}/0`, WORKER, 1);
  await accepted;
  if (!(await claimed)) throw new Error(`Cannot claim ${id}/0.`);
  await journal.finish(`${id}/0`, RESULT, 2, WORKER);
}

const ENTRY = {
  callId: 'call_0',
  toolName: 'noop',
  args: NO_OP_ARGS,
  effects: [{ kind: 'call', server: 's', tool: 'noop', access: 'write', resource: '123456' }],
  disposition: 'execute_now',
  reason: 'no policy is set',
} as const;

const RESULT = {
  callId: 'call_0',
  toolName: 'noop',
  success: true,
  output: 'hello world',
  truncated: false,
  executionTimeMs: 0,
  metadata: {},
} as const;
