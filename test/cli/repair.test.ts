import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const ASKED = message(['bash', { command: 'echo real' }]);
const OPEN = [{ role: 'user', content: 'Go.' }, ASKED];

/** The answer to the last call of the conversation. */
function lastAnswer(stdout: string): string {
  const history: unknown = JSON.parse(stdout);
  const texts = [...JSON.stringify(history).matchAll(/"tool_use_id":"toolu_1","content":"(.*?)"/g)];
  return texts.at(-1)?.[1] ?? '';
}

describe('toolexec repair', () => {
  it('returns a valid conversation byte for byte, from a file and from a pipe', async () => {
    const sound =
      '[ {"role":"user",\t"content":"\\u0047o. ü"},\r\n {"role": "assistant", "content": 1.50} ]\n\n';
    const file = toolexec.write('sound.json', sound);
    const fromFile = await toolexec.run(['repair', file]);
    expect(fromFile).toEqual({ code: 0, stdout: sound, stderr: 'toolexec: nothing to mend\n' });
    const piped = await toolexec.run(['repair', '-', '--json'], { stdin: sound });
    expect(piped).toEqual({ code: 0, stdout: sound, stderr: '[]\n' });
  });

  it('gives a call without an id the result of its conversation only if it is the only possible one', async () => {
    const content = (path: string, ...more: object[]) => ({
      role: 'model',
      parts: [...more, { functionCall: { name: 'read_file', args: { path } } }],
    });
    const run = (path: string, text: string) =>
      toolexec.run(['run', '-', '--conversation', 'thread'], {
        stdin: JSON.stringify(content(path, { text })),
      });
    toolexec.write('root/a.txt', 'one\n');
    toolexec.write('root/b.txt', 'other\n');
    await run('a.txt', 'First.');
    await run('b.txt', 'Second.');
    const repaired = async (path: string) => {
      const stdin = JSON.stringify([{ role: 'user', parts: [{ text: 'Go.' }] }, content(path)]);
      const { stdout } = await toolexec.run(['repair', '-', '--conversation', 'thread'], { stdin });
      return JSON.stringify(JSON.parse(stdout).at(-1));
    };
    expect(await repaired('b.txt')).toContain('"response":{"output":"other\\n"}');
    expect(await repaired('a.txt')).toContain('"response":{"output":"one\\n"}');
    toolexec.write('root/a.txt', 'two\n');
    await run('a.txt', 'Third.');
    const unclear = await repaired('a.txt');
    expect(unclear).not.toContain('one');
    expect(unclear).not.toContain('two');
    expect(unclear).toContain('"response":{"error":');
  });

  it('keeps every unchanged character: a byte order mark, numbers, spaces', async () => {
    const mark = '\ufeff';
    const sound = `${mark}[{"role":"user","content":"Go.", "id":12345678901234567890, "x":1.0}]\r\n`;
    expect(await toolexec.run(['repair'], { stdin: sound })).toMatchObject({ code: 0, stdout: sound });
    const file = toolexec.write('sound.json', sound);
    expect((await toolexec.run(['repair', file])).stdout).toBe(sound);
    const call =
      '{ "type":"tool_use","id":"a","name":"bash","input":{"command":"\\u0041","n":12345678901234567890} }';
    const open = `${mark}[${sound.slice(2, -3)},\t{"role":"assistant","content":[${call}]} ]\r\n`;
    const { stdout } = await toolexec.run(['repair'], { stdin: open });
    expect(stdout.startsWith(`${mark}[${sound.slice(2, -3)},{"role":"assistant","content":[${call}]},`)).toBe(
      true,
    );
    expect(stdout.endsWith(']\r\n')).toBe(true);
    expect((await toolexec.run(['repair'], { stdin: stdout })).stdout).toBe(stdout);
  });

  it('reads and keeps numbers that a double cannot hold, and halves of characters', async () => {
    const args = '{"n":-9007199254740993,"huge":1e400,"cut":"\\ud83d"}';
    const body = (more: string) =>
      `{"seed":12345678901234567890,"top_p":1.0,"messages":[{"role":"user","content":"\\udc00"},` +
      `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":${args}}]}${more}]}`;
    const sound = body(
      `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1e999"}],"n":1e999}`,
    );
    const kept = await toolexec.run(['repair'], { stdin: sound });
    expect(kept).toEqual({ code: 0, stdout: sound, stderr: 'toolexec: nothing to mend\n' });
    const { code, stdout } = await toolexec.run(['repair'], { stdin: body('') });
    expect([code, stdout.slice(0, body('').length - 2)]).toEqual([0, body('').slice(0, -2)]);
    expect((await toolexec.run(['repair'], { stdin: stdout })).stdout).toBe(stdout);
    // The same call, written twice in one message, is one call.
    const use = `{"type":"tool_use","id":"a","name":"bash","input":${args}}`;
    const twice = await toolexec.run(['repair'], { stdin: sound.replace(use, `${use},${use}`) });
    expect([twice.code, twice.stdout]).toEqual([0, sound]);
  });

  it('accepts any key that a model has written, even one that is invalid in a call', async () => {
    const args = '{"__proto__":{"n":1.0},"constructor":2.0}';
    const body = (more: string) =>
      `{"__proto__":1.0,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":${args}}]}${more}]}`;
    const sound = body(',{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}');
    expect((await toolexec.run(['repair'], { stdin: sound })).stdout).toBe(sound);
    const { code, stdout } = await toolexec.run(['repair'], { stdin: body('') });
    expect([code, stdout.slice(0, body('').length - 2)]).toEqual([0, body('').slice(0, -2)]);
    expect(stdout).toContain('(outcome_unknown)');
  });

  it('reports if the calls are in another format than the named one', async () => {
    const stdin = JSON.stringify(OPEN);
    const { code, stdout, stderr } = await toolexec.run(['repair', '--format', 'openai'], { stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/written in the format "anthropic", not "openai".*\n$/);
    expect((await toolexec.run(['repair', '--format', 'anthropic'], { stdin })).code).toBe(0);
    const plain = '[{"role":"user","content":"Go."}]';
    expect((await toolexec.run(['repair', '--format', 'gemini'], { stdin: plain })).stdout).toBe(plain);
  });

  it('repairs a broken conversation, says what it changed, and changes nothing the second time', async () => {
    const body = { model: 'm', max_tokens: 9, messages: OPEN };
    const { code, stdout, stderr } = await toolexec.run(['repair', toolexec.json('open.json', body)]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      model: 'm',
      max_tokens: 9,
      messages: [{}, {}, { role: 'user' }],
    });
    expect(lastAnswer(stdout)).toContain('Error: The outcome of this call is unknown');
    expect(stderr).toBe(
      'toolexec: [1] The call "toolu_1" of "bash" had no result: it is answered outcome_unknown.\n',
    );
    const again = await toolexec.run(['repair'], { stdin: stdout });
    expect(again).toMatchObject({ code: 0, stdout, stderr: 'toolexec: nothing to mend\n' });
  });

  it('reports its changes as JSON with --json', async () => {
    const { stderr } = await toolexec.run(['repair', '--json'], { stdin: JSON.stringify(OPEN) });
    expect(JSON.parse(stderr)).toEqual([
      { kind: 'missing_result', callId: 'toolu_1', at: 1, message: expect.any(String), result: 'unknown' },
    ]);
  });

  it('inserts the recorded result from the named journal, or from the one that run would use', async () => {
    const asked = toolexec.json('asked.json', ASKED);
    const open = toolexec.json('open.json', OPEN);
    const journal = join(toolexec.root, 'calls.db');
    const named = ['--journal', join(toolexec.folder, 'calls.db'), '--conversation', 'c1'];
    await toolexec.run(['run', asked, '--yes', ...named]);
    const { stdout, stderr } = await toolexec.run(['repair', open, ...named]);
    expect(lastAnswer(stdout)).toBe('real\\n');
    expect(stderr).toContain('it has the recorded one now');
    const other = await toolexec.run(['repair', open, ...named.slice(0, 3), 'c2']);
    expect(lastAnswer(other.stdout)).toContain('outcome_unknown');
    await toolexec.run(['run', asked, '--yes']);
    expect(lastAnswer((await toolexec.run(['repair', open])).stdout)).toBe('real\\n');
    expect(existsSync(journal)).toBe(false);
  });

  it('replaces its own earlier "outcome unknown" with the recorded result', async () => {
    const call = { id: 'a', name: 'write_file', args: { path: 'f', content: 'x' } };
    const history = toolexec.json('history.json', [{ role: 'user', content: 'Go.' }, call]);
    const before = await toolexec.run(['repair', history, '--conversation', 'c']);
    expect(before.stdout).toContain('outcome_unknown');
    const mended = toolexec.write('mended.json', before.stdout);
    await toolexec.run(['run', toolexec.json('call.json', call), '--yes', '--conversation', 'c']);
    const after = await toolexec.run(['repair', mended, '--conversation', 'c']);
    expect([after.code, after.stderr]).toEqual([
      0,
      'toolexec: [2] The call "a" of "write_file" was answered before its outcome was known: it has the recorded result now.\n',
    ]);
    expect(JSON.parse(after.stdout)[2]).toMatchObject({ tool_call_id: 'a', success: true });
    const last = await toolexec.run(['repair', '-', '--conversation', 'c'], { stdin: after.stdout });
    expect([last.stdout, last.stderr]).toEqual([after.stdout, 'toolexec: nothing to mend\n']);
  });

  it('does not use the result of another call with the same id', async () => {
    const journal = ['--journal', join(toolexec.folder, 'calls.db')];
    const asked = toolexec.json('asked.json', message(['bash', { command: 'echo other' }]));
    await toolexec.run(['run', asked, '--yes', ...journal, '--conversation', 'c1']);
    const { stdout } = await toolexec.run(['repair', ...journal], { stdin: JSON.stringify(OPEN) });
    expect(lastAnswer(stdout)).toContain('outcome_unknown');
  });

  it.each([
    ['', 'Cannot repair standard input: it is empty.'],
    ['{"role":', 'it is not valid JSON: line 1, column 9'],
    ['"x"', 'Cannot repair standard input'],
    ['[[]]', 'element 0 is an array'],
    [new Uint8Array([0, 1, 2]), 'binary'],
  ])('refuses %j with one line and exit code 2', async (stdin, why) => {
    const { code, stdout, stderr } = await toolexec.run(['repair'], { stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(why);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses a missing journal, and a file that is not one, and creates none', async () => {
    const stdin = JSON.stringify(OPEN);
    const missing = join(toolexec.folder, 'no.db');
    const first = await toolexec.run(['repair', '--journal', missing], { stdin });
    expect(first).toMatchObject({ code: 2, stdout: '' });
    expect(first.stderr).toContain('there is no such file');
    expect(existsSync(missing)).toBe(false);
    const none = toolexec.write('none.db', 'this is no database, and long enough to be seen'.repeat(20));
    expect(await toolexec.run(['repair', '--journal', none], { stdin })).toMatchObject({
      code: 2,
      stdout: '',
    });
    await toolexec.run(['repair'], { stdin });
    expect(existsSync(toolexec.state)).toBe(false);
  });
});
