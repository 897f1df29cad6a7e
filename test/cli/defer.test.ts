import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useToolexec } from './toolexec.js';

const command = useToolexec();
let response: string;

beforeEach(() => {
  response = command.json('response.json', {
    model: 'claude-x',
    role: 'assistant',
    content: [
      { type: 'text', text: 'I write two files.' },
      { type: 'tool_use', id: 'one', name: 'write_file', input: { path: 'one.txt', content: '1\n' } },
      { type: 'tool_use', id: 'bad', name: 'write_file', input: 'no object' },
      { type: 'tool_use', id: 'two', name: 'write_file', input: { path: 'two.txt', content: '2\n' } },
    ],
  });
});

const there = (name: string): boolean => existsSync(join(command.root, name));

async function putOff(): Promise<string> {
  const { code, stdout, stderr } = await command.run([
    ...['run', response, '--defer', '--conversation', 'thread-7'],
  ]);
  // The advice for the person is shown to people only.
  expect(stdout).not.toContain('toolexec');
  expect(code).toBe(4);
  const [, id = ''] = /toolexec approve ([0-9a-z-]+)/.exec(stderr) ?? [];
  expect(id).not.toBe('');
  return id;
}

describe('toolexec run --defer', () => {
  it('runs no call that needs approval, answers in the same format that it waits, and exits 4', async () => {
    const { code, stdout, stderr } = await command.run(['run', response, '--defer', '--json']);
    expect(code).toBe(4);
    const { content } = JSON.parse(stdout);
    expect(content.map(({ tool_use_id }: { tool_use_id: string }) => tool_use_id)).toEqual([
      'one',
      'bad',
      'two',
    ]);
    expect(content[0].content).toMatch(/^Error: Not run yet: it waits for the person's approval\. /);
    expect(stderr).not.toContain('\n    at ');
    expect(there('one.txt')).toBe(false);
    const again = await command.run(['run', response, '--yes']);
    expect([again.code, there('one.txt')]).toEqual([4, false]);
    expect(again.stdout).toContain("waits for the person's approval");
  });

  it('runs calls without approval at once', async () => {
    const read = command.json('read.json', { id: 'r', name: 'read_file', args: { path: 'a.txt' } });
    command.write('root/a.txt', 'text\n');
    const { code, stdout } = await command.run(['run', read, '--defer']);
    expect([code, JSON.parse(stdout)[0].output]).toEqual([0, 'text\n']);
  });

  it('does not count as left behind in later runs', async () => {
    const id = await putOff();
    const { stdout } = await command.run(['journal', 'recover', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { batchId: id, waits: true, calls: [{ state: 'queued' }, { state: 'queued' }] },
    ]);
    const resumed = await command.run(['journal', 'recover', '--resume', id]);
    expect([resumed.code, resumed.stderr]).toEqual([
      2,
      expect.stringContaining('waits for approval, and has not begun'),
    ]);
  });

  it.each(['id', 'conversation'])(
    'is discarded by its %s: nothing runs, and the conversation continues',
    async (by) => {
      const id = await putOff();
      const named = by === 'id' ? id : 'thread-7';
      const { code, stdout } = await command.run(['journal', 'recover', '--discard', named, '--json']);
      expect(code).toBe(0);
      const never = { state: 'done', result: { error: { code: 'cancelled', details: { executed: 'no' } } } };
      expect(JSON.parse(stdout)).toMatchObject([{ batchId: id, waits: false, calls: [never, never] }]);
      const late = await command.run(['approve', id, '--yes']);
      expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('it was decided already')]);
      const again = await command.run(['run', response, '--conversation', 'thread-7', '--yes']);
      expect([again.code, there('one.txt'), there('two.txt')]).toEqual([1, false, false]);
      expect(again.stdout).toContain('Discarded by the user. It was not run.');
      command.write('root/a.txt', 'text');
      const read = command.json('read.json', { id: 'r', name: 'read_file', args: { path: 'a.txt' } });
      expect((await command.run(['run', read, '--conversation', 'thread-7'])).code).toBe(0);
      expect((await command.run(['journal', 'verify'])).code).toBe(0);
    },
  );
});

describe('toolexec approve', () => {
  it('runs the batch and answers all calls, as run would have done', async () => {
    const id = await putOff();
    const { code, stdout } = await command.run(['approve', id, '--yes']);
    // One call could not be read.
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      role: 'user',
      content: [{ tool_use_id: 'one' }, { tool_use_id: 'bad', is_error: true }, { tool_use_id: 'two' }],
    });
    expect(readFileSync(join(command.root, 'two.txt'), 'utf8')).toBe('2\n');
    const more = await command.run(['run', response, '--conversation', 'thread-7']);
    expect([more.code, JSON.parse(more.stdout).content[0].is_error]).toEqual([1, undefined]);
    const again = await command.run(['approve', id, '--yes']);
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toMatch(/^toolexec: Cannot approve batch ".+": it was decided already, on .+Z\.\n$/);
    const unknown = await command.run(['approve', 'nothing-like-it', '--yes']);
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toMatch(
      /"nothing-like-it": the journal has no such batch.* These wait: none\.\n$/,
    );
  });

  it.each(['native', 'anthropic', 'openai', 'openai-responses', 'gemini'])(
    'repair counts its answer, and not that of the wait: %s',
    async (format) => {
      const native = JSON.parse(readFileSync(response, 'utf8')).content.slice(3);
      const one = command.json('one.json', { role: 'assistant', content: native });
      const asked = (results: readonly unknown[]) =>
        command.json('history.json', [...(CALLS[format] ?? []), ...results]);
      const where = ['--conversation', 'c', '--format', format];
      const waiting = await command.run(['run', one, '--defer', ...where]);
      const waits = listed(waiting.stdout);
      const early = await command.run(['repair', asked(waits), '--conversation', 'c']);
      expect([early.code, early.stderr]).toEqual([0, 'toolexec: nothing to mend\n']);
      const answered = listed((await command.run(['approve', 'c', '--yes', '--format', format])).stdout);
      const mended = await command.run(['repair', asked(waits), '--conversation', 'c']);
      expect(mended.stderr).toContain('was answered before its outcome was known');
      expect(mended.stdout).toContain('Successfully wrote');
      expect(mended.stdout).not.toContain('Not run yet');
      const both = await command.run(['repair', asked([...waits, ...answered])]);
      expect(JSON.parse(both.stdout)).toEqual([...(CALLS[format] ?? []), ...answered]);
    },
  );

  it('approves single calls by their ids, by the name of the conversation', async () => {
    await putOff();
    const wrong = await command.run(['approve', 'thread-7', '--approve', 'three']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('the batch has no such call')]);
    const { code } = await command.run(['approve', 'thread-7', '--approve', 'two', '--format', 'native']);
    expect([code, there('one.txt'), there('two.txt')]).toEqual([1, false, true]);
  });

  it('denies the whole batch', async () => {
    const id = await putOff();
    const { code, stdout } = await command.run(['approve', id, '--deny', '--format', 'native']);
    expect([code, JSON.parse(stdout)[0].error.code]).toEqual([1, 'user_denied']);
    expect(there('one.txt')).toBe(false);
  });

  it('leaves it waiting if there is no person to decide', async () => {
    const id = await putOff();
    const { code, stdout } = await command.run(['approve', id]);
    expect(code).toBe(4);
    expect(stdout).toContain("waits for the person's approval");
    expect((await command.run(['approve', id, '--yes'])).code).toBe(1);
    expect(there('one.txt')).toBe(true);
  });

  it('names the files that changed since they were shown, for which --yes does not count', async () => {
    const id = await putOff();
    command.write('root/one.txt', 'of another program');
    const { code, stderr } = await command.run(['approve', id, '--yes']);
    expect([code, stderr]).toEqual([4, expect.stringMatching(/changed since it was shown: \S+one\.txt/)]);
  });

  it('works in the directory of the batch, and nowhere else', async () => {
    const id = await putOff();
    const journal = join(command.state, 'toolexec');
    const [hash = ''] = readdirSync(journal);
    const elsewhere = dirname(command.write('elsewhere/x', ''));
    const args = ['--journal', join(journal, hash, 'journal.db'), '--root', elsewhere, '--yes'];
    const { code, stderr } = await command.run(['approve', id, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--root "${command.root}"`)]);
    expect(existsSync(join(elsewhere, 'one.txt'))).toBe(false);
  });

  it('blocks no other call of its conversation; exit code 4 says that a call still waits', async () => {
    await putOff();
    const other = command.json('other.json', {
      id: 'x',
      name: 'write_file',
      args: { path: 'other.txt', content: '' },
    });
    const { code } = await command.run(['run', other, '--conversation', 'thread-7', '--yes']);
    expect([code, there('other.txt')]).toEqual([4, true]);
  });
});

const ARGS = { path: 'two.txt', content: '2\n' };
const TEXT = JSON.stringify(ARGS);
/** One call as each provider's model asks for it. */
const CALLS: Readonly<Record<string, readonly unknown[]>> = {
  native: [{ id: 'two', name: 'write_file', args: ARGS }],
  anthropic: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'two', name: 'write_file', input: ARGS }] },
  ],
  openai: [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'two', type: 'function', function: { name: 'write_file', arguments: TEXT } }],
    },
  ],
  'openai-responses': [{ type: 'function_call', call_id: 'two', name: 'write_file', arguments: TEXT }],
  gemini: [{ role: 'model', parts: [{ functionCall: { id: 'two', name: 'write_file', args: ARGS } }] }],
};

/** The output as the messages or items of a history. */
function listed(stdout: string): readonly unknown[] {
  return [JSON.parse(stdout)].flat();
}

describe('toolexec waiting', () => {
  it('lists waiting calls with risk and summary, and the id that it shows is accepted', async () => {
    const id = await putOff();
    const { code, stdout, stderr } = await command.run(['waiting']);
    expect(code).toBe(0);
    const [, short = ''] = /^([0-9a-z]{8,}) {2}conversation thread-7 {2}since \d{4}-.+Z$/m.exec(stdout) ?? [];
    expect(id.startsWith(short) && short.length < id.length).toBe(true);
    expect(stdout).toMatch(/1\. write_file \(one\) medium risk\n.*one\.txt/);
    expect(stdout).toContain('2. write_file (two)');
    expect(stderr).toContain('toolexec approve ID');
    expect((await command.run(['journal', 'list'])).stdout).toContain(` ${short} `);
    expect((await command.run(['journal', 'show', short])).stdout).toContain(`batch ${id}`);
    const approved = await command.run(['approve', short, '--approve', 'two', '--format', 'native']);
    expect([approved.code, there('one.txt'), there('two.txt')]).toEqual([1, false, true]);
    expect(await command.run(['waiting'])).toMatchObject({
      code: 0,
      stdout: 'Nothing waits for approval.\n',
    });
  });

  it('prints the whole requests as JSON, or those of a named conversation', async () => {
    const id = await putOff();
    const whole = JSON.parse((await command.run(['waiting', '--json'])).stdout);
    expect(whole).toMatchObject([
      {
        batchId: id,
        conversation: 'thread-7',
        since: expect.stringMatching(/^\d{4}-.+Z$/),
        requests: [
          {
            callId: 'one',
            toolName: 'write_file',
            risk: 'medium',
            args: { path: 'one.txt' },
            effects: [{ kind: 'write' }],
          },
          { callId: 'two' },
        ],
      },
    ]);
    const other = await command.run(['waiting', '--json', '--conversation', 'other']);
    expect([other.code, other.stdout]).toEqual([0, '[]\n']);
    expect(there('one.txt')).toBe(false);
  });

  it('reports that there is no journal, and creates none', async () => {
    const { code, stdout, stderr } = await command.run(['waiting']);
    expect([code, stdout, stderr]).toEqual([
      0,
      'Nothing waits for approval.\n',
      expect.stringContaining('there is no journal'),
    ]);
    expect(existsSync(command.state)).toBe(false);
  });

  it('lists the batches that a prefix may mean, and discards one by a unique prefix', async () => {
    const id = await putOff();
    const short = id.slice(0, 8);
    const discarded = await command.run(['journal', 'recover', '--discard', id.slice(0, 11), '--json']);
    expect(JSON.parse(discarded.stdout)).toMatchObject([
      { batchId: id, conversation: 'thread-7', waits: false },
    ]);
    const late = await command.run(['journal', 'recover', '--discard', short]);
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('it was decided already')]);
  });
});
