import { describe, expect, it } from 'vitest';
import type { ToolEvent } from '../contract/executor.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const STREAMING = { input_schema: { type: 'object' }, output_schema: {}, streaming: true };

/** One call of a tool that declares streaming: its result, and the output shown while it ran. */
async function call(body: string, document: object = STREAMING) {
  using folder = new ToolsFolder();
  folder.add('tool', scriptOf(body, document));
  await using service = await openTools(folder.path);
  await using executor = executorFor(service);
  const run = executor.start([{ id: '1', name: 'tool', args: {} }]);
  const events: ToolEvent[] = [];
  for await (const event of run.events) events.push(event);
  const [result] = await run.results;
  return { result, shown: events.map((event) => (event.type === 'stdout' ? event.chunk : '')).join('') };
}

describe('a tool that streams (E044)', () => {
  it('shows its output while it works; its result is its result line', async () => {
    const { result, shown } = await call(`cat <<'X'
{"type":"progress","message":"reading","percent":12.4}
{"type":"progress","percent":50}
{"type":"stdout","text":"a row\\n"}

{"type":"result","value":{"rows":2}}
X`);
    expect(result).toMatchObject({ success: true, structured: { rows: 2 }, output: '{"rows":2}' });
    expect(shown).toBe('12% reading\n50%\na row\n');
  });

  it('shows a line before the next one is written', async () => {
    using folder = new ToolsFolder();
    const go = `${folder.root}/go`;
    // It continues only when the first line was seen.
    const body = `echo '{"type":"stdout","text":"first"}'\nwhile [ ! -e ${go} ]; do sleep 0.05; done\necho '{"type":"result","value":1}'`;
    folder.add('tool', scriptOf(body, STREAMING));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    const run = executor.start([{ id: '1', name: 'tool', args: {} }]);
    for await (const event of run.events) {
      if (event.type === 'stdout') folder.add('go', '', 0o644, folder.root);
    }
    expect((await run.results)[0]?.structured).toBe(1);
  });

  it('needs no line break after its result', async () => {
    expect((await call(`printf '{"type":"result","value":[1]}'`)).result?.structured).toEqual([1]);
  });

  it('may report why it failed', async () => {
    const { result } = await call(`echo '{"type":"error","message":"no such table"}'`);
    expect(result?.error).toMatchObject({ code: 'execution_failed', message: 'tool failed: no such table' });
  });

  it('fails by its exit code, even if it wrote a result', async () => {
    const { result } = await call(`echo '{"type":"result","value":1}'\nexit 4`);
    expect(result?.error).toMatchObject({ code: 'execution_failed', message: 'tool failed: exit code 4' });
  });

  it('is checked against its output schema', async () => {
    const { result } = await call(`echo '{"type":"result","value":1}'`, {
      ...STREAMING,
      output_schema: { type: 'string' },
    });
    expect(result?.error?.code).toBe('invalid_tool_output');
  });

  it.each([
    ['nothing', ':', 'it gave no result'],
    ['a line that is no JSON', 'echo hello', 'it wrote a line that is not JSON'],
    ['a line that is no object', 'echo 5', 'it wrote a line that is not a JSON object'],
    ['an unknown type', `echo '{"type":"news"}'`, 'it wrote a line whose "type" is not one of'],
    ['a result without a value', `echo '{"type":"result"}'`, 'it wrote a result without a "value"'],
    ['bytes that are no text', `printf '\\377\\n'`, 'it wrote a line that is not UTF-8 text'],
    [
      'two results',
      `echo '{"type":"result","value":1}'; echo '{"type":"result","value":2}'`,
      'it wrote more after its result',
    ],
    ['a half line at its end', `printf '{"type":"res'`, 'it wrote a line that is not JSON'],
  ])('may not write %s', async (_what, body, message) => {
    const { result } = await call(body);
    expect(result?.error).toMatchObject({
      code: 'invalid_tool_output',
      message: expect.stringContaining(`tool failed: ${message}`),
    });
  });

  it('is ended at the first line that breaks the rules', async () => {
    const { result } = await call('echo hello; sleep 600');
    expect(result?.error?.code).toBe('invalid_tool_output');
  });
});
