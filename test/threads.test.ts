import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { buildFirst, builtCommand } from './cli/built-command.js';

buildFirst();
const root = realpathSync(mkdtempSync(join(tmpdir(), 'threads-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Each of two threads has an executor, which runs commands and ends with its thread. */
const PROGRAM = `
const { Worker } = require('node:worker_threads');
const RUN = \`
const { workerData: { door, root } } = require('node:worker_threads');
import(door).then(async ({ createExecutor }) => {
  for (let round = 0; round < 2; round++) {
    const executor = createExecutor({ root, approver: null });
    for (let turn = 0; turn < 6; turn++) {
      const { output, error } = await executor.execute('bash', { command: 'echo from a thread' });
      console.log(error === undefined ? output.trim() : JSON.stringify(error));
    }
    await executor.close();
  }
});\`;
const [door, root] = process.argv.slice(1);
for (let thread = 0; thread < 2; thread++) new Worker(RUN, { eval: true, workerData: { door, root } });
`;

describe('executors in threads', () => {
  it('run commands, and leave the files of the others alone', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const door = pathToFileURL(join(dirname(dirname(builtCommand())), 'index.js')).href;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['-e', PROGRAM, door, root]);
    // Node warns of every descriptor that seems to be open twice.
    expect(stderr).toBe('');
    expect(stdout).toBe('from a thread\n'.repeat(24));
  });
});
