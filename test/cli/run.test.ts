import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IS_SOAK } from '../../src/testing/fixtures/share-of-runs.js';
import { blocksOf, message, type Toolexec, useToolexec } from './toolexec.js';

const toolexec = useToolexec({ ownProcess: IS_SOAK });

describe('toolexec run', () => {
  it('answers an Anthropic message in the same format and in order, and exits 0', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    toolexec.write('root/b.txt', 'beta\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'b.txt' }], ['read_file', { path: 'a.txt' }]),
    );
    const { code, stdout, stderr } = await toolexec.run(['run', file], { ownProcess: true });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'beta\n' },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'alpha\n' },
      ],
    });
    expect(stderr).toMatch(/✓ read_file \(toolu_1\)[\s\S]*✓ read_file \(toolu_2\)/);
  });

  it.each([
    ['no argument', []],
    ['-', ['-']],
  ])('reads native calls from standard input (%s) and writes an array', async (_how, args) => {
    toolexec.write('root/a.txt', 'alpha\n');
    const stdin = JSON.stringify({ id: 'x', name: 'read_file', args: { path: 'a.txt' } });
    const { code, stdout } = await toolexec.run(['run', ...args], { stdin, ownProcess: true });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({
        tool_call_id: 'x',
        tool_name: 'read_file',
        success: true,
        output: 'alpha\n',
      }),
    ]);
  });

  it('runs the fenced blocks of a text', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const stdin = 'Look:\n```tool\n{"name":"read_file","args":{"path":"a.txt"}}\n```\nand that is it.\n';
    const { code, stdout } = await toolexec.run(['run', '-'], { stdin });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ tool_call_id: 'call_0', output: 'alpha\n' }),
    ]);
  });

  it.each([
    [
      'openai',
      {
        role: 'assistant',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } },
        ],
      },
      [{ role: 'tool', tool_call_id: 'c1', content: 'alpha\n' }],
    ],
    [
      'openai-responses',
      {
        output: [{ type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a.txt"}' }],
      },
      [{ type: 'function_call_output', call_id: 'c1', output: 'alpha\n' }],
    ],
  ])('answers %s in the same format', async (_format, response, answer) => {
    toolexec.write('root/a.txt', 'alpha\n');
    const { code, stdout } = await toolexec.run(['run', toolexec.json('r.json', response)]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(answer);
  });

  it('answers a repeated response from the journal and runs a different one, in a named conversation and without ids', async () => {
    toolexec.write('root/a.txt', 'before\n');
    const asked = (text: string) => {
      const call = { functionCall: { name: 'read_file', args: { path: 'a.txt' } } };
      return JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }, call] } }] });
    };
    const run = (text: string) =>
      toolexec.run(['run', '-', '--conversation', 'thread'], { stdin: asked(text) });
    const answer = (output: string) => ({
      role: 'user',
      parts: [{ functionResponse: { name: 'read_file', response: { output } } }],
    });
    expect(JSON.parse((await run('First.')).stdout)).toEqual(answer('before\n'));
    toolexec.write('root/a.txt', 'after\n');
    const second = await run('Second.');
    expect(JSON.parse(second.stdout)).toEqual(answer('after\n'));
    expect(second.stderr).not.toContain('answered from the journal');
    const again = await run('First.');
    expect(JSON.parse(again.stdout)).toEqual(answer('before\n'));
    expect(again.stderr).toContain('these calls were delivered before and answered from the journal');
  });

  it('writes the format that --format names', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const file = toolexec.json('r.json', message(['read_file', { path: 'a.txt' }]));
    const { stdout } = await toolexec.run(['run', file, '--format', 'native']);
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ tool_call_id: 'toolu_1', success: true })]);
  });

  it('exits 1 when a call fails, and answers all of them', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'none.txt' }], ['read_file', { path: 'a.txt' }]),
    );
    const { code, stdout, stderr } = await toolexec.run(['run', file], { ownProcess: true });
    expect(code).toBe(1);
    expect(blocksOf(stdout).map(({ is_error }) => is_error === true)).toEqual([true, false]);
    expect(blocksOf(stdout)[0]?.content).toMatch(/^Error: /);
    expect(stderr).toMatch(/✗ read_file \(toolu_1\).*execution_failed/);
  });

  it('answers a malformed call at its position', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const calls = [
      { id: 'one', name: 'read_file', args: { path: 'a.txt' } },
      { id: 'two', name: 'read_file', args: 'not an object' },
      { id: 'three', name: 'read_file', args: { path: 'a.txt' } },
    ];
    const { code, stdout, stderr } = await toolexec.run(['run', toolexec.json('r.json', calls)]);
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as {
      tool_call_id: string;
      success: boolean;
      error?: { code: string };
    }[];
    expect(results.map(({ tool_call_id, success }) => [tool_call_id, success])).toEqual([
      ['one', true],
      ['two', false],
      ['three', true],
    ]);
    expect(results[1]?.error?.code).toBe('bad_args');
    expect(stderr).toMatch(/⊘ read_file \(two\) bad_args/);
  });

  it('answers an unfinished block with bad_args if there are other calls', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const stdin = '```tool\n{"name":"read_file","args":{"path":"a.txt"}}\n```\n```tool\n{"name":"read_f';
    const { code, stdout } = await toolexec.run(['run'], { stdin });
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual([undefined, 'bad_args']);
  });

  it.each([
    ['an Anthropic message', JSON.stringify(message()), { role: 'user', content: [] }],
    ['prose', 'There is nothing to do.', []],
    ['no native calls', '[]', []],
  ])('answers %s without calls with nothing, and exits 0', async (_what, stdin, answer) => {
    const { code, stdout, stderr } = await toolexec.run(['run'], { stdin });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(answer);
  });

  it('keeps calls inside the root, and accepts absolute paths in it', async () => {
    const inside = toolexec.write('root/a.txt', 'alpha\n');
    const outside = toolexec.write('secret.txt', 'secret\n');
    const file = toolexec.json(
      'r.json',
      message(
        ['read_file', { path: inside }],
        ['read_file', { path: outside }],
        ['read_file', { path: '../secret.txt' }],
      ),
    );
    const { code, stdout } = await toolexec.run(['run', file, '--yes', '--format', 'native']);
    expect(code).toBe(1);
    expect(stdout).not.toContain('secret\\n');
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'sandbox_violation',
      'sandbox_violation',
    ]);
  });

  it('accepts several roots, before and after the file', async () => {
    toolexec.write('one/a.txt', 'alpha\n');
    const b = toolexec.write('two/b.txt', 'beta\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'a.txt' }], ['read_file', { path: b }]),
    );
    const roots = [join(toolexec.folder, 'one'), join(toolexec.folder, 'two')];
    for (const args of [
      ['--root', ...roots, file],
      [file, '--root', ...roots],
      ['--root', String(roots[0]), '--root', String(roots[1]), file],
    ]) {
      const { code, stdout } = await toolexec.run(['run', ...args]);
      expect(code).toBe(0);
      expect(blocksOf(stdout).map(({ content }) => content)).toEqual(['alpha\n', 'beta\n']);
    }
  });

  it('reports with --dry-run what would be done, without a question, and does nothing', async () => {
    const file = toolexec.json('r.json', message(['bash', { command: 'echo hi > new.txt' }]));
    const { code, stdout } = await toolexec.run(['run', file, '--dry-run']);
    expect(code).toBe(0);
    expect(blocksOf(stdout)[0]?.content).toMatch(/^\[Dry Run\] /);
    expect(existsSync(join(toolexec.root, 'new.txt'))).toBe(false);
  });

  it('cancels the remaining calls after a failure with --fail-fast', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'none' }], ['read_file', { path: 'a.txt' }]),
    );
    const { code, stdout } = await toolexec.run(['run', file, '--fail-fast', '--format', 'native']);
    expect(code).toBe(1);
    const results = JSON.parse(stdout) as { error?: { code: string } }[];
    expect(results.map(({ error }) => error?.code)).toEqual(['execution_failed', 'cancelled']);
  });

  it.each([
    ['one after the other', [], ['started 1', 'completed 1', 'started 2', 'completed 2']],
    [
      'side by side with --parallel',
      ['--parallel'],
      ['started 1', 'started 2', 'completed 1', 'completed 2'],
    ],
  ])('runs calls %s', async (_how, options, order) => {
    toolexec.write('root/a.txt', 'alpha\n');
    toolexec.write('root/b.txt', 'beta\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }]),
    );
    const { stderr } = await toolexec.run(['run', file, '--json', ...options]);
    const lived = eventsOf(stderr).filter(({ type }) => type === 'started' || type === 'completed');
    const seen = lived.map(({ type, callId }) => `${type} ${callId?.slice(-1)}`);
    expect(options.length === 0 ? seen : [...seen.slice(0, 2), ...seen.slice(2).sort()]).toEqual(order);
  });

  it('makes standard error one JSON object a line with --json', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const file = toolexec.json(
      'r.json',
      message(['read_file', { path: 'a.txt' }], ['bash', { command: 'true' }]),
    );
    const { stdout, stderr } = await toolexec.run(['run', file, '--json'], { ownProcess: true });
    expect(blocksOf(stdout)).toHaveLength(2);
    const lines = eventsOf(stderr);
    expect(lines.filter(({ callId }) => callId === 'toolu_1').map(({ type }) => type)).toEqual([
      'planned',
      'started',
      'completed',
    ]);
    expect(lines.at(-1)?.type).toBe('note');
  });

  it('lets no text of a model or a tool control the terminal', async () => {
    const evil = '\u001b]0;owned\u0007\u009b31m\u202e';
    toolexec.write('root/evil.txt', `before${evil}after\n`);
    const calls = [
      { id: `i${evil}`, name: 'read_file', args: { path: 'evil.txt' } },
      { id: 'j', name: `n${evil}`, args: {} },
      { id: 'k', name: 'read_file', args: { path: evil } },
    ];
    const { stdout, stderr } = await toolexec.run(['run', toolexec.json('r.json', calls)]);
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('keeps its journal private, below the state directory', async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    await toolexec.run(['run', toolexec.json('r.json', message(['read_file', { path: 'a.txt' }]))]);
    const found = readFileSync(journalOf(toolexec));
    expect(found.subarray(0, 15).toString()).toBe('SQLite format 3');
    expect(statSync(journalOf(toolexec)).mode & 0o777).toBe(0o600);
  });
});

function eventsOf(stderr: string): { readonly type: string; readonly callId?: string }[] {
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function journalOf({ state }: Toolexec): string {
  const names = readdirAll(join(state, 'toolexec'));
  const name = names.find((candidate) => /^[0-9a-f]{32}\/journal\.db$/.test(candidate));
  if (name === undefined) throw new Error(`no journal among ${names.join(', ')}`);
  return join(state, 'toolexec', name);
}

function readdirAll(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' });
}
