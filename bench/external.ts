import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { interleave, type Timing } from './measure.js';
import { type Row, toMs, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const DOCUMENT = { input_schema: { type: 'object' }, output_schema: {}, effects: [] };

const COLD = `#!/bin/sh
if [ "$1" = "--schema" ]; then echo '${JSON.stringify(DOCUMENT)}'; exit; fi
cat
`;

const WARM = `#!${process.execPath}
const { createInterface } = process.getBuiltinModule('node:readline');
if (process.argv[2] === '--schema') console.log('${JSON.stringify({ ...DOCUMENT, serve: true })}');
else createInterface({ input: process.stdin }).on('line', (line) => {
  const { type, id, arguments: value } = JSON.parse(line);
  process.stdout.write(JSON.stringify(type === 'ping' ? { type: 'pong', id } : { type: 'result', id, value }) + '\\n');
});
`;

const ARGS = { message: 'hello', count: 3 };
const INPUT = JSON.stringify(ARGS);
const TOGETHER = 100;
const TOOLS = 200;

/** Programs as tools, beside the same programs run by hand. */
export function measureExternal(scale: Scale): Promise<readonly Row[]> {
  const isQuick = scale === 'quick';
  return withDirectory(async (directory) => [
    ...(await measureCalls(directory, isQuick)),
    ...(await measureDiscovery(directory, isQuick)),
  ]);
}

async function measureCalls(directory: string, isQuick: boolean): Promise<readonly Row[]> {
  const tools = folderOf(directory, 'calls');
  const cold = addProgram(tools, 'cold', COLD);
  const warm = addProgram(tools, 'warm', WARM);
  await using external = await toolexec.discoverTools(tools, { trusted: true, stateDirectory: false });
  await using executor = toolexec.createExecutor({
    external,
    approver: null,
    journal: false,
    root: directory,
  });
  const call = async (name: string, conversation?: string): Promise<void> => {
    const options = conversation === undefined ? {} : { conversation };
    const { success, error } = await executor.execute(name, ARGS, options);
    if (!success) throw new Error(error?.message);
  };
  const together = Array.from({ length: TOGETHER }, (_, at) => `c${at}`);
  using server = startServer(warm, false);
  using apart = startServer(warm, true);
  const times = await interleave(
    {
      bare: { units: 1, run: () => runBare(cold, [], INPUT) },
      cold: { units: 1, run: () => call('cold') },
      bareTogether: { units: 1, run: () => Promise.all(together.map(() => runBare(cold, [], INPUT))) },
      together: { units: 1, run: () => Promise.all(together.map((name) => call('cold', name))) },
    },
    { rounds: isQuick ? 1 : 20, warmUps: isQuick ? 0 : 3 },
  );
  const calls = isQuick ? 10 : 500;
  const inTurn = async (run: () => Promise<unknown>): Promise<void> => {
    for (let n = 0; n < calls; n++) await run();
  };
  const warmTimes = await interleave(
    {
      line: { units: calls, run: () => inTurn(() => server.ask()) },
      apart: { units: calls, run: () => inTurn(() => apart.ask()) },
      warm: { units: calls, run: () => inTurn(() => call('warm')) },
    },
    { rounds: isQuick ? 1 : 20, warmUps: isQuick ? 0 : 3 },
  );
  const ms = { computing: false, unit: 'ms' } as const;
  return [
    toRow('one call, cold', toMs(times.cold), ['a bare spawn', toMs(times.bare)], {
      ...ms,
      goal: { of: 'ratio', atMost: 1.2 },
    }),
    toRow(
      `${TOGETHER} calls at once, cold`,
      toMs(times.together),
      [`${TOGETHER} bare spawns`, toMs(times.bareTogether)],
      ms,
    ),
    toRow(
      'one call, warm',
      warmTimes.warm,
      ['a line to a process in a session of its own, and back', warmTimes.apart],
      { computing: false, goal: { of: 'ratio', atMost: 1.3 } },
    ),
    toRow('the same', warmTimes.warm, ['to a process in the same session', warmTimes.line], {
      computing: false,
    }),
    toRow('processor time of our side of it', spent(warmTimes.warm), ['the same', spent(warmTimes.apart)], {
      computing: false,
      goal: { of: 'ours', atMost: 100 },
    }),
  ];
}

function spent({ cpuUs }: Timing): Timing {
  return { wallUs: cpuUs, cpuUs, rounds: [cpuUs] };
}

async function measureDiscovery(directory: string, isQuick: boolean): Promise<readonly Row[]> {
  const tools = folderOf(directory, 'many');
  const count = isQuick ? 4 : TOOLS;
  const paths = Array.from({ length: count }, (_, at) => addProgram(tools, `tool-${at}`, COLD));
  const discover = async (stateDirectory: string | false): Promise<void> => {
    await using external = await toolexec.discoverTools(tools, { stateDirectory });
    if (external.tools.length !== count) throw new Error(`${external.tools.length} tools of ${count}`);
  };
  const state = folderOf(directory, 'state');
  await discover(state);
  const { byHand, first, again } = await interleave(
    {
      byHand: { units: 1, run: () => twoAtATime(paths, (path) => runBare(path, ['--schema'], '')) },
      first: { units: 1, run: () => discover(false) },
      again: { units: 1, run: () => discover(state) },
    },
    { rounds: isQuick ? 1 : 9, warmUps: isQuick ? 0 : 1 },
  );
  rmSync(state, { recursive: true });
  const beside = ['run two at a time by hand', toMs(byHand)] as const;
  const ms = { computing: false, unit: 'ms' } as const;
  return [
    toRow(`${count} programs found for the first time`, toMs(first), beside, {
      ...ms,
      goal: { of: 'ratio', atMost: 1.2 },
    }),
    toRow(`${count} programs found again`, toMs(again), beside, { ...ms, goal: { of: 'ours', atMost: 50 } }),
  ];
}

function folderOf(directory: string, name: string): string {
  const path = join(directory, name);
  mkdirSync(path, { mode: 0o755 });
  return path;
}

function addProgram(folder: string, name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

/** The least that runs a program and reads its answer. */
async function runBare(path: string, args: readonly string[], input: string): Promise<unknown> {
  const child = spawn(path, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  await once(child, 'close');
  return JSON.parse(text);
}

async function twoAtATime(paths: readonly string[], run: (path: string) => Promise<unknown>): Promise<void> {
  const rest = [...paths];
  const worker = async (): Promise<void> => {
    for (let path = rest.pop(); path !== undefined; path = rest.pop()) await run(path);
  };
  await Promise.all([worker(), worker()]);
}

/** The same program, and nothing around its lines. */
/** @param detached in its own session, so that its descendants can be found and ended */
function startServer(path: string, detached: boolean): Disposable & { ask(): Promise<unknown> } {
  const child = spawn(path, ['--serve'], { stdio: ['pipe', 'pipe', 'ignore'], detached });
  let answered: (line: string) => void = () => {};
  createInterface({ input: child.stdout }).on('line', (line) => answered(line));
  return {
    async ask() {
      const line = await new Promise<string>((resolve) => {
        answered = resolve;
        child.stdin.write(`${JSON.stringify({ type: 'call', id: 'x', arguments: ARGS })}\n`);
      });
      return JSON.parse(line);
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
