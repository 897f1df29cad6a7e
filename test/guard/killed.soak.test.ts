import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ended, useToolexec } from '../cli/toolexec.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const KILLS = Number(process.env.KILLS ?? 30);
const toolexec = useToolexec({ ownProcess: true });
const inRoot = (name: string): string => join(toolexec.root, name);

/** Lehmer's generator: the same instants each time, as far as the machine allows. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Runs a program, and kills it at a random instant of the time that it takes. @returns its exit code; null: it was killed */
async function killed(
  args: readonly string[],
  stdin: string,
  random: () => number,
  wholeMs: number,
): Promise<number | null> {
  const child = toolexec.start(args);
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const timer = setTimeout(() => child.kill('SIGKILL'), random() * wholeMs);
  const { code } = await ended(child);
  clearTimeout(timer);
  return code;
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Processes that name the root in their command line. */
function processesOfRoot(): string {
  return execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(toolexec.root) && !line.includes('ps -eo'))
    .join('\n');
}

async function expectNoOrphan(): Promise<void> {
  for (let tries = 0; tries < 100 && processesOfRoot() !== ''; tries++) await pause(100);
  expect(processesOfRoot()).toBe('');
}

describe(`toolexec hook, killed ${KILLS} times at random instants`, () => {
  it(
    'leaves a record that says what is known: the call goes on, once, and undo takes it back',
    async () => {
      toolexec.write(
        '.config/toolexec/config.toml',
        '[tools.approval]\nallowlist = ["read_file", "write_file", "edit_file"]\n',
      );
      const random = numbers(Number(process.env.SEED ?? 20_261_127));
      const documentOf = (event: string, id: string): string =>
        JSON.stringify({
          ...{ session_id: id, cwd: toolexec.root, hook_event_name: event, permission_mode: 'default' },
          ...{ tool_name: 'Write', tool_use_id: id, tool_response: {} },
          tool_input: { file_path: inRoot('a'), content: 'new' },
        });
      const wholeMs = await timeOf(() =>
        toolexec.run(['hook'], { stdin: documentOf('PreToolUse', 'first') }),
      );
      let kills = 0;
      for (let trial = 0; trial < KILLS; trial++) {
        const id = `toolu_${trial}`;
        writeFileSync(inRoot('a'), 'old');
        const before = await killed(['hook'], documentOf('PreToolUse', id), random, wholeMs * 1.2);
        if (before === null) kills++;
        // The agent sends the document again: these agents try a hook once more, or the person repeats the call.
        const again = await toolexec.run(['hook'], { stdin: documentOf('PreToolUse', id) });
        expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('"allow"')]);
        writeFileSync(inRoot('a'), 'new');
        if ((await killed(['hook'], documentOf('PostToolUse', id), random, wholeMs * 1.2)) === null) kills++;
        const listed = await toolexec.run(['journal', 'show', id]);
        expect(listed.stdout.match(/Write|write_file/g)?.length).toBeGreaterThan(0);
        await toolexec.run(['hook'], { stdin: documentOf('Stop', id) });
        expect((await toolexec.run(['undo', id])).code).toBe(0);
        expect(readFileSync(inRoot('a'), 'utf8')).toBe('old');
      }
      expect(kills).toBeGreaterThan(0);
      expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
      await expectNoOrphan();
    },
    KILLS * 30_000,
  );
});

describe.skipIf(WHY_NOT !== '')(`toolexec try, killed ${KILLS} times at random instants${WHY_NOT}`, () => {
  it(
    'has kept all or nothing, once, and leaves no process',
    async () => {
      mkdirSync(inRoot('d'));
      const line = 'echo x >>d/a; echo x >>d/b; echo x >>d/c';
      const args = ['try', '--keep', '--', line];
      const random = numbers(Number(process.env.SEED ?? 20_261_128));
      const wholeMs = await timeOf(() => toolexec.run(args));
      const names = ['d/a', 'd/b', 'd/c'];
      let kills = 0;
      for (let trial = 0; trial < KILLS; trial++) {
        for (const name of names) rmSync(inRoot(name), { force: true });
        if ((await killed(args, '', random, wholeMs * 1.2)) === null) kills++;
        await expectNoOrphan();
        // The next command completes or undoes a commit that a kill has interrupted.
        expect((await toolexec.run(['try', '--discard', '--', 'true'])).code).toBe(0);
        const contents = names.map((name) =>
          existsSync(inRoot(name)) ? readFileSync(inRoot(name), 'utf8') : '',
        );
        expect([
          ['', '', ''],
          ['x\n', 'x\n', 'x\n'],
        ]).toContainEqual(contents);
      }
      expect(kills).toBeGreaterThan(0);
      expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
    },
    KILLS * 30_000,
  );
});
