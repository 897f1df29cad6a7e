import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();
const inRoot = (name: string): string => join(toolexec.root, name);
const write = (path: string, content: string) =>
  ['write_file', { path, content, mode: 'overwrite' }] as const;

async function runTwice(): Promise<void> {
  writeFileSync(inRoot('a'), 'first');
  const one = toolexec.json('1.json', message(write('a', 'second'), ['read_file', { path: 'a' }]));
  const two = toolexec.json('2.json', {
    content: [
      {
        type: 'tool_use',
        id: 'late',
        name: 'write_file',
        input: { path: 'a', content: 'third', mode: 'overwrite' },
      },
      { type: 'tool_use', id: 'made', name: 'write_file', input: { path: 'b', content: 'x' } },
    ],
  });
  for (const file of [one, two])
    expect((await toolexec.run(['run', file, '--yes', '--conversation', 'c'])).code).toBe(0);
}

describe('toolexec undo --conversation', () => {
  it('undoes every call of it, the newest first', async () => {
    await runTwice();
    const undone = await toolexec.run(['undo', '--conversation', 'c']);
    expect(undone.code).toBe(0);
    const named = undone.stdout.match(/^\w+ \(\w+\):/gm);
    expect(named).toEqual(['write_file (made):', 'write_file (late):', 'write_file (toolu_1):']);
    expect(readdirSync(toolexec.root)).toEqual(['a']);
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('first');
  });

  it('bug: a deferred call that ran last was not undone first', async () => {
    writeFileSync(inRoot('a'), 'first');
    const executor = createExecutor({ root: toolexec.root, journal: toolexec.journal });
    const overwrite = (id: string, content: string) => ({
      ...{ id, name: 'write_file', args: { path: 'a', content, mode: 'overwrite' } },
    });
    const approver = () => ({ kind: 'approve_all' }) as const;
    await executor.run([overwrite('early', 'third')], { conversation: 'c', defer: true });
    const [waiting] = await executor.waiting();
    await executor.run([overwrite('late', 'second')], { conversation: 'c', approver });
    await (await executor.approve(waiting?.batchId ?? '', { approver })).results;
    await executor.close();
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('third');
    const undone = await toolexec.run(['undo', '--conversation', 'c', '--journal', toolexec.journal]);
    expect([undone.code, readFileSync(inRoot('a'), 'utf8')]).toEqual([0, 'first']);
  });

  it('bug: a call that ran twice was undone once', async () => {
    const append = ['write_file', { path: 'a', content: 'x', mode: 'append' }] as const;
    const file = toolexec.json('append.json', message(append));
    for (const more of [[], ['--again']])
      await toolexec.run(['run', file, '--yes', '--conversation', 'c', ...more]);
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('xx');
    expect((await toolexec.run(['undo', '--conversation', 'c'])).code).toBe(0);
    expect(readdirSync(toolexec.root)).toEqual([]);
  });

  it('reports its plan with --dry-run, and the files that stay as JSON', async () => {
    await runTwice();
    writeFileSync(inRoot('b'), 'of the person');
    const dry = await toolexec.run(['undo', '--conversation', 'c', '--dry-run']);
    expect(dry.code).toBe(1);
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('third');
    const { code, stdout } = await toolexec.run(['undo', '--conversation', 'c', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { callId: 'made', skipped: [{ path: inRoot('b'), reason: 'it was changed since' }] },
      { callId: 'late', restored: [inRoot('a')] },
      { callId: 'toolu_1', restored: [inRoot('a')] },
    ]);
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('first');
  });

  it('leaves out calls before --since, and names those that cannot be undone', async () => {
    await runTwice();
    const config = toolexec.write('off.toml', '[tools.sandbox]\ntransactions = "off"\n');
    const call = toolexec.json('3.json', {
      content: [{ type: 'tool_use', id: 'cmd', name: 'bash', input: { command: 'echo 1 >c' } }],
    });
    await toolexec.run(['run', call, '--yes', '--conversation', 'c', '--config', config]);
    const none = await toolexec.run(['undo', '--conversation', 'c', '--since', '0s']);
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'toolexec: there is nothing to undo\n' });
    const { code, stdout } = await toolexec.run(['undo', '--conversation', 'c', '--since', '10m']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^left bash \(cmd\): .*it changed no files that were noted/);
    expect(readFileSync(inRoot('a'), 'utf8')).toBe('first');
  });

  it.each<[string[], RegExp]>([
    [['undo'], /Name a call, or a conversation/],
    [['undo', '--conversation', 'none'], /no conversation "none"/],
    [['undo', 'late', '--since', '10m'], /Cannot use --since with a call/],
    [['undo', '--conversation', 'c', '--since', 'soon'], /30d/],
  ])('refuses %s', async (words, why) => {
    await runTwice();
    const ran = await toolexec.run(words);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toMatch(why);
  });
});
