import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const COUNT = message(['bash', { command: 'echo once >> count; wc -l < count' }]);

function times(): number {
  return readFileSync(join(toolexec.root, 'count'), 'utf8').trim().split('\n').length;
}

describe('toolexec run and its journal', () => {
  it('answers a response that is delivered twice from the journal, and reports it', async () => {
    const file = toolexec.json('r.json', COUNT);
    const first = await toolexec.run(['run', file, '--yes']);
    const second = await toolexec.run(['run', file, '--yes']);
    expect(times()).toBe(1);
    expect(second.code).toBe(0);
    expect(second.stdout).toBe(first.stdout);
    expect(first.stderr).not.toContain('journal');
    expect(second.stderr).toMatch(/answered from the journal.*--again/);
  });

  it('runs it again with --again', async () => {
    const file = toolexec.json('r.json', COUNT);
    await toolexec.run(['run', file, '--yes']);
    const { stdout, stderr } = await toolexec.run(['run', file, '--yes', '--again']);
    expect(times()).toBe(2);
    expect(blocksOf(stdout)[0]?.content.trim()).toBe('2');
    expect(stderr).not.toContain('journal');
  });

  it('records a rerun in its conversation; later deliveries are answered from the first run', async () => {
    const run = (...more: string[]) =>
      toolexec.run(['run', toolexec.json('r.json', COUNT), '--yes', '--conversation', 'c', ...more]);
    await run();
    expect(blocksOf((await run('--again')).stdout)[0]?.content.trim()).toBe('2');
    expect(blocksOf((await run()).stdout)[0]?.content.trim()).toBe('1');
    expect(times()).toBe(2);
    const { stdout } = await toolexec.run(['journal', 'list', '--json']);
    const batches = JSON.parse(stdout) as { conversation: string }[];
    expect(batches.map(({ conversation }) => conversation)).toEqual(['c', 'c', 'c']);
  });

  it('knows a call of the same conversation in another response', async () => {
    const more = message(
      ['bash', { command: 'echo once >> count; wc -l < count' }],
      ['bash', { command: 'echo more' }],
    );
    await toolexec.run(['run', toolexec.json('r.json', COUNT), '--yes', '--conversation', 'c']);
    const { stdout } = await toolexec.run([
      'run',
      toolexec.json('m.json', more),
      '--yes',
      '--conversation',
      'c',
    ]);
    expect(times()).toBe(1);
    expect(blocksOf(stdout).map(({ content }) => content.trim())).toEqual(['1', 'more']);
  });

  it('separates conversations and roots', async () => {
    const file = toolexec.json('r.json', COUNT);
    await toolexec.run(['run', file, '--yes']);
    await toolexec.run(['run', file, '--yes', '--conversation', 'other']);
    expect(times()).toBe(2);
    const other = join(toolexec.folder, 'other');
    mkdirSync(other);
    const { stderr } = await toolexec.run(['run', file, '--yes', '--root', other]);
    expect(stderr).not.toContain('journal');
  });

  it('uses the journal that --journal names, whatever the root', async () => {
    const file = toolexec.json('r.json', COUNT);
    const journal = join(toolexec.folder, 'somewhere', 'j.db');
    await toolexec.run(['run', file, '--yes', '--journal', journal]);
    rmSync(toolexec.state, { recursive: true, force: true });
    const { stderr } = await toolexec.run(['run', file, '--yes', '--journal', journal]);
    expect(stderr).toContain('answered from the journal');
    expect(times()).toBe(1);
  });

  it('runs nothing if the journal cannot be opened', async () => {
    const journal = toolexec.write(
      'no-journal',
      'this is no database, and long enough to be seen as something else'.repeat(20),
    );
    const { code, stdout } = await toolexec.run([
      'run',
      toolexec.json('r.json', COUNT),
      '--yes',
      '--journal',
      journal,
      '--format',
      'native',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ error: expect.objectContaining({ code: 'journal_unavailable' }) }),
    ]);
    expect(() => times()).toThrow();
  });

  it('records nothing of a dry run', async () => {
    const file = toolexec.json('r.json', COUNT);
    await toolexec.run(['run', file, '--dry-run']);
    const { stderr } = await toolexec.run(['run', file, '--yes']);
    expect(stderr).not.toContain('journal');
    expect(times()).toBe(1);
  });
});
