import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { ended, useToolexec } from './toolexec.js';

const toolexec = useToolexec({ ownProcess: true });

it('runs the calls of a host in another process, lists what it serves, and drains on SIGTERM', async () => {
  const journal = join(toolexec.folder, 'fleet.db');
  const words = [
    'worker',
    '--journal',
    journal,
    '--root',
    toolexec.root,
    '--label',
    'files',
    '--concurrency',
    '2',
  ];
  const child = toolexec.start(words);
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end();
  const host = createExecutor({
    ...{ journal, root: toolexec.root, approver: null },
    fleet: { run: 'anywhere', labels: ['files'], startDeadlineMs: 30_000 },
  });
  onTestFinished(() => host.close());
  const call = { id: 'w', name: 'write_file', args: { path: 'made.txt', content: 'by a worker\n' } };
  const [result] = await host.run([call], { conversation: 'c' });
  expect(result).toMatchObject({ success: true });
  expect(readFileSync(join(toolexec.root, 'made.txt'), 'utf8')).toBe('by a worker\n');
  child.kill('SIGTERM');
  const { code, stderr } = await ended(child);
  expect(code).toBe(0);
  expect(stderr).toMatch(/worker [\w-]+ serves .* \(labels files, 2 calls at once\)/);
  expect(stderr).toContain('drained');
});

eachOf(
  [
    [['worker', '--concurrency', '0'], /--concurrency/],
    [['worker', '--lease', 'long'], /--lease/],
    [['worker', '--root', '/nowhere/at/all'], /nowhere/],
    [['worker', '--journal', ''], /journal/],
    [['worker', '--labell', 'x'], /unknown option/i],
  ],
  1,
)('refuses %j with one line', async (words, why) => {
  const { code, stderr } = await toolexec.run(words);
  expect(code).toBe(2);
  expect(stderr).toMatch(why);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(existsSync(join(toolexec.root, 'journal.db'))).toBe(false);
});

it.each([
  ['serve', '--listen', '127.0.0.1:0'],
  ['worker', '--root', '.'],
  ['mcp', '--root', '.', '--http', '127.0.0.1:0'],
])(
  'bug: %s served for ever with a file that cannot be its journal',
  async (...words) => {
    const notes = toolexec.write(
      'notes.txt',
      'not a journal, and longer than the header of a database file\n'.repeat(3),
    );
    for (const [journal, why] of [
      [toolexec.state, 'it is a directory. Name a file.'],
      [notes, 'it is not a journal'],
    ] as const) {
      mkdirSync(toolexec.state, { recursive: true });
      const { code, stderr } = await toolexec.run([...words, '--journal', journal]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  },
  60_000,
);

it.each(['https://fleet.example', 'fleet.example:443', 'fleet.example/v1'])(
  'bug: serve accepted the name %s, under which it answered no client',
  async (name) => {
    const { code, stderr } = await toolexec.run(['serve', '--listen', '127.0.0.1:0', '--name', name]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^toolexec: Cannot use --name .*\n$/)]);
  },
);

it('bug: a worker whose database cannot be reached reported nothing', async () => {
  const config = toolexec.write('fleet.toml', '[fleet]\nurl = "postgres://app@127.0.0.1:1/none"\n');
  const child = toolexec.start(['worker', '--config', config]);
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.end();
  const end = ended(child);
  let said = '';
  child.stderr.on('data', (text) => {
    said += String(text);
  });
  await expect.poll(() => said).toMatch(/could not use its journal: .*cannot be reached/);
  child.kill('SIGTERM');
  expect((await end).code).toBe(0);
  expect(said.match(/could not use its journal/g)).toHaveLength(1);
});
