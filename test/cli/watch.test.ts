import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { ended, useToolexec } from './toolexec.js';

const toolexec = useToolexec();
let journal: string;
beforeEach(() => {
  journal = toolexec.journal;
});

const WRITE = { id: 'w1', name: 'write_file', args: { path: 'a.txt', content: 'hi\n' } };
const DEFERRED = { id: 'w2', name: 'write_file', args: { path: 'b.txt', content: 'hi\n' } };

describe('toolexec watch', () => {
  it('reports the events of any process to programs, even in a journal that is created later', async () => {
    const child = toolexec.start(['watch', '--json', '--journal', journal]);
    const lines: { readonly type: string; readonly callId?: string; readonly [key: string]: unknown }[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line !== '') lines.push(JSON.parse(line));
    });
    const told = (): readonly string[] => lines.map(({ type, callId }) => [type, callId].join(' ').trim());
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString();
    });
    const over = ended(child);
    await expect.poll(() => said).toContain('there is no journal yet');

    const file = toolexec.json('r.json', [WRITE]);
    expect(
      (await toolexec.run(['run', file, '--journal', journal, '--conversation', 'c', '--yes'])).code,
    ).toBe(0);
    await expect.poll(told).toContain('completed w1');
    expect(told()[0]).toBe('batch');
    expect(lines[0]).toMatchObject({ conversation: 'c', calls: [{ callId: 'w1', toolName: 'write_file' }] });
    expect(lines.at(-1)).toMatchObject({ result: { success: true } });

    // A program with the library, which defers calls and continues.
    const executor = createExecutor({ root: toolexec.root, journal });
    await executor.run([DEFERRED], { conversation: 'library', defer: true });
    await expect.poll(told).toContain('waiting');
    expect(lines.at(-1)).toMatchObject({ type: 'waiting', conversation: 'library', why: 'approval' });
    const run = await executor.approve(String(lines.at(-1)?.batch), {
      approver: () => ({ kind: 'deny_all' }),
    });
    await run.results;
    await expect.poll(told).toContain('completed w2');
    expect(told().filter((line) => line === 'decided')).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ result: { error: { code: 'user_denied' } } });
    await executor.close();

    child.kill('SIGINT');
    expect((await over).code).toBe(0);
  });

  it('ends when its reader has gone; its journal may be in a directory that tools can write to', async () => {
    journal = join(toolexec.root, 'journal.db');
    const [node, main] = [process.execPath, toolexec.main];
    const script = '"$1" "$2" watch --json --journal "$3" | head -n 1';
    const child = spawn('sh', ['-c', script, 'sh', node, main, journal], {
      cwd: toolexec.root,
      env: toolexec.environment(),
    });
    const over = ended(child);
    await using executor = createExecutor({ root: toolexec.root, journal, approver: null });
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    // Each change is an attempt to write something.
    await expect
      .poll(async () => {
        await executor.run([{ id: 'r', name: 'list_directory', args: { path: '.' } }]);
        return isOver;
      })
      .toBe(true);
    expect(JSON.parse((await over).stdout)).toMatchObject({ type: 'batch' });
  });

  it('reports in one line a file that is not a journal', async () => {
    const file = toolexec.write('no-journal.db', 'x'.repeat(5000));
    const { code, stderr } = await toolexec.run(['watch', '--journal', file]);
    expect([code, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain('no-journal.db');
  });
});
