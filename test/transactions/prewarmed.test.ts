import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
let executor: Executor;
beforeEach(() => {
  executor = createExecutor({
    root: place.root,
    approver: null,
    journal: place.journal,
    sandbox: { os: 'required', transactions: 'required' },
  });
});
afterEach(async () => {
  await executor.close();
});

/** The directories of transactions that no command has used yet. */
const unused = (): string[] => {
  const transactions = `${place.journal}-transactions`;
  return readdirSync(transactions)
    .filter(
      (name) => /^transaction-[0-9a-f-]+$/.test(name) && !existsSync(join(transactions, name, 'done.json')),
    )
    .map((name) => join(transactions, name));
};

/** Our sandboxes that wait for a command, for the root of this test. */
const waiting = (): number[] =>
  execFileSync('ps', ['-e', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`--chdir ${place.root} `) && line.includes('toolexec_line'))
    .map((line) => line.trim().split(/\s+/).map(Number))
    // bubblewrap is two processes.
    .filter(([, parent], _, all) => !all.some(([pid]) => pid === parent))
    .map(([pid = 0]) => pid);

const bash = (command: string, more: object = {}): Promise<ToolResult> =>
  executor.execute('bash', { command, ...more });

/** After two commands, building ahead is worth it; returns the directory built for the third. */
async function built(): Promise<string> {
  await bash('cat * 2>/dev/null; true');
  await bash('ls -A');
  await expect.poll(waiting).toHaveLength(1);
  return unused()[0] ?? '';
}

describe.skipIf(WHY_NOT !== '')(`a sandbox that is built before its command is known${WHY_NOT}`, () => {
  it('is used once, and shows the changes that other programs made meanwhile', async () => {
    writeFileSync(join(place.root, 'log'), 'one\n');
    const ready = await built();
    appendFileSync(join(place.root, 'log'), 'two\nthree\n');
    writeFileSync(join(place.root, 'new'), 'x');
    const result = await bash('cp log copy; ls; stat -c %y . >time');
    expect(result.output).toBe('copy\nlog\nnew\n');
    expect(existsSync(join(ready, 'done.json'))).toBe(true);
    expect(readFileSync(join(place.root, 'copy'), 'utf8')).toBe('one\ntwo\nthree\n');
    // The next one is another.
    await expect.poll(unused).toHaveLength(1);
    expect(unused()).not.toContain(ready);
  });

  it('is not used if a path was hidden since, or the root was replaced', {
    tags: ['soak'],
  }, async () => {
    mkdirSync(join(place.root, 'api'));
    await built();
    writeFileSync(join(place.root, 'api', '.env'), 'SECRET');
    expect((await bash('ls -A api; cat api/.env 2>/dev/null; true')).output).not.toMatch(/env|SECRET/);
    await built();
    renameSync(place.root, join(place.around, 'moved'));
    mkdirSync(place.root);
    expect((await bash('ls -A; echo x >made')).metadata.changes).toMatchObject({ created: ['made'] });
    expect(readdirSync(place.root)).toEqual(['made']);
    expect(readdirSync(join(place.around, 'moved'))).toEqual(['api']);
  });

  it('is not needed if its process was killed; nothing of it remains at the end', async () => {
    await built();
    for (const pid of waiting()) process.kill(pid, 'SIGKILL');
    await expect.poll(waiting).toEqual([]);
    expect(await bash('echo x >made; ls')).toMatchObject({ output: 'made\n' });
    expect(readdirSync(place.root)).toEqual(['made']);
    await built();
    await executor.close();
    expect(waiting()).toEqual([]);
    expect(unused()).toEqual([]);
  });

  it('keeps the changes of concurrent commands separate', { tags: ['soak'] }, async () => {
    await built();
    const results = await Promise.all([1, 2, 3].map((n) => bash(`echo ${n} >f${n}; sleep 0.1; ls`)));
    expect(results.map(({ metadata }) => Object(metadata.changes).created)).toEqual([['f1'], ['f2'], ['f3']]);
    expect(readdirSync(place.root).sort()).toEqual(['f1', 'f2', 'f3']);
  });

  it('gives a command the same context as a sandbox that is built for it', { tags: ['soak'] }, async () => {
    mkdirSync(join(place.root, 'a b'));
    writeFileSync(join(place.root, 'a b', 'f'), 'x');
    const shows = String.raw`env -0 | sort -z | tr '\0' '\n' | grep -v ^TOOLEXEC_CALL=
echo "$0|$#|$-|$OLDPWD|$(pwd)|$(umask)|$(ulimit -a | cksum)"
ls -l /proc/self/fd | grep ' [0-9] ->' | sed 's/.* \([0-9] ->\)/\1/; s/[0-9]\{3,\}//; s/pipes-.*(/(/'; cat; ls -A
printf '%s|' 'a\n\t"b"  ' "\$HOME" '\\'
mount | sed 's/[0-9a-f-]\{20,\}//g; s/-[0-9]*//g' | sort; ps -eo args= | wc -l

# a comment, and no line end`;
    const directory = { working_dir: 'a b' };
    const first = await bash(shows, directory);
    for (let turn = 0; turn < 2; turn++) {
      await built();
      expect(await bash(shows, directory)).toMatchObject({ output: first.output });
      // Bytes that some shells misread, and more than a pipe accepts at once.
      expect((await bash(String.raw`printf 'Ёж\n'`)).output).toBe('Ёж\n');
      expect((await bash(`: ${'x'.repeat(8000)}; printf y`)).output).toBe('y');
    }
    expect(first.output).toContain(`${place.root}/a b|`);
    const before = waiting();
    expect(before).toHaveLength(1);
    expect((await bash('echo x', { working_dir: 'missing' })).error).toBeDefined();
    expect(await bash('exit 7')).toMatchObject({ metadata: { exit_code: 7 } });
    await built();
    expect(await bash('kill -9 $$')).toMatchObject({ metadata: { signal: 'SIGKILL' } });
  });

  it('is not used if another mounted file was replaced', { tags: ['soak'] }, async () => {
    const beside = join(place.around, 'beside');
    mkdirSync(beside);
    writeFileSync(join(beside, 'f'), 'old\n');
    await executor.close();
    executor = createExecutor({
      root: place.root,
      sandbox: { os: 'required', transactions: 'required', readable: [beside] },
      approver: null,
      journal: place.journal,
    });
    const show = `cat ${join(beside, 'f')}; ls`;
    await built();
    renameSync(beside, `${beside}-2`);
    mkdirSync(beside);
    writeFileSync(join(beside, 'f'), 'new\n');
    expect((await bash(show)).output).toBe('new\n');
    await built();
    renameSync(beside, `${beside}-3`);
    expect((await bash('ls -A ..')).output).toBe('root\n');
  });

  it('is kept only for a few executors of a program', { tags: ['soak'] }, async () => {
    const others = [1, 2, 3, 4, 5].map((n) =>
      createExecutor({
        root: place.root,
        approver: null,
        journal: join(place.around, `${n}.db`),
        sandbox: { os: 'required', transactions: 'required' },
      }),
    );
    for (const other of others)
      for (let turn = 0; turn < 2; turn++) await other.execute('bash', { command: 'true' });
    await expect.poll(waiting).toHaveLength(4);
    await Promise.all(others.map((other) => other.close()));
    expect(waiting()).toEqual([]);
  });

  it('ends with its program, however that ends', { tags: ['soak'] }, async () => {
    const file = bundleProgram(fileURLToPath(new URL('fixtures/commands-in-turn.ts', import.meta.url)));
    const program = spawn(process.execPath, [file, place.root, join(place.around, 'other.db')], {
      stdio: 'ignore',
    });
    await expect.poll(waiting).toHaveLength(1);
    program.kill('SIGKILL');
    await expect.poll(waiting).toEqual([]);
  });
});
