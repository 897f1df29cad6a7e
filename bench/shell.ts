import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type Timing } from './measure.js';
import { type Goal, type Row, toRow } from './row.js';
import { measureWriteThrough } from './write-through.js';

const MEGABYTE = 1_000_000;

/** `bash` through the whole executor, beside a bare `spawn`; in a small program and in one that holds 1 GB. */
export async function measureShell(scale: Scale): Promise<readonly Row[]> {
  const quick = scale === 'quick';
  const sandboxed = await measureWriteThrough(quick);
  const executor = toolexec.createExecutor({ approver: null, sandbox: { os: 'off' } });
  const rounds = { rounds: quick ? 3 : 60, warmUps: quick ? 1 : 10 };
  const contenders = {
    ours: latencyOf(() => executor.execute('bash', { command: 'true' })),
    bare: latencyOf(() => spawnBare('true')),
  };
  const small = await interleave(contenders, rounds);
  // Filled page by page: memory that is only reserved costs a fork nothing.
  const ballast = Buffer.alloc((quick ? 100 : 1000) * MEGABYTE, 1);
  const large = await interleave(contenders, { rounds: quick ? 3 : 30, warmUps: 3 });
  const rows = [
    ...sandboxed,
    inMs('true, small program', small.ours, ['bare spawn', small.bare], { of: 'ratio', atMost: 1.3 }),
    inMs(`true, program of ${ballast.length / MEGABYTE} MB`, large.ours, ['ours, small', small.ours], {
      of: 'ratio',
      atMost: 1.2,
    }),
    inMs(`true, program of ${ballast.length / MEGABYTE} MB`, large.ours, ['bare spawn', large.bare]),
  ];
  const bytes = (quick ? 20 : 200) * MEGABYTE;
  const through = await interleave(
    {
      ours: latencyOf(() => executor.execute('bash', { command: `head -c ${bytes} /dev/zero` })),
      watched: latencyOf(() => watch(executor, `yes 'a line of text' | head -c ${bytes}`)),
      pipe: latencyOf(() => spawnBare(`head -c ${bytes} /dev/zero`)),
    },
    { rounds: quick ? 1 : 7, warmUps: 1 },
  );
  const title = `${bytes / MEGABYTE} MB of output`;
  rows.push(
    inMs(title, through.ours, ['raw pipe', through.pipe], { of: 'ratio', atMost: 1 / 0.8 }),
    inMs(`${title}, watched`, through.watched, ['raw pipe', through.pipe], {
      of: 'ours',
      atMost: bytes / MEGABYTE / 0.2,
    }),
    await memoryOf(executor, quick ? 100 * MEGABYTE : 5000 * MEGABYTE),
  );
  await executor.close();
  return rows;
}

function latencyOf(run: () => Promise<unknown>): Contender {
  return { units: 1, run };
}

function spawnBare(command: string): Promise<void> {
  return spawnProgram('/bin/sh', ['-c', command], '.');
}

async function spawnProgram(file: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const [code] = await once(child, 'close');
  // A failing run would count as a fast one.
  if (code !== 0) throw new Error(`Cannot measure ${file}: it ended with ${code}.`);
}

type Executor = ReturnType<typeof toolexec.createExecutor>;

async function watch(executor: Executor, command: string): Promise<void> {
  const run = executor.start([{ id: '1', name: 'bash', args: { command } }]);
  for await (const _event of run.events);
  await run.results;
}

async function memoryOf(executor: Executor, bytes: number): Promise<Row> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const { metadata } = await executor.execute('bash', { command: `head -c ${bytes} /dev/zero` });
  clearInterval(timer);
  if (metadata.stdout_bytes !== bytes) throw new Error('Cannot measure memory: output was lost.');
  const after = Math.max(most, process.memoryUsage().rss);
  return {
    what: `memory, ${bytes / MEGABYTE} MB of output`,
    unit: 'MB',
    ours: after / MEGABYTE,
    beside: { name: 'before', value: before / MEGABYTE, ratio: after / before },
    goal: { of: 'difference', atMost: 100 },
  };
}

function inMs(what: string, ours: Timing, beside: readonly [string, Timing], goal?: Goal): Row {
  return toRow(what, toMs(ours), [beside[0], toMs(beside[1])], {
    unit: 'ms',
    computing: false,
    ...(goal === undefined ? {} : { goal }),
  });
}

function toMs({ wallUs, cpuUs, rounds }: Timing): Timing {
  return { wallUs: wallUs / 1000, cpuUs: cpuUs / 1000, rounds };
}
