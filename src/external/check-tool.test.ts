import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, checkTool } from './check-tool.js';
import { servingScript } from './fixtures/serving-program.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const DOCUMENT = {
  version: '1',
  description: 'd',
  effects: [],
  input_schema: { type: 'object', properties: { n: { type: 'integer', minimum: 3 } }, required: ['n'] },
  output_schema: { type: 'integer' },
};
/** Examines its arguments. */
const GOOD = `read -r l; case $l in '{"n":'*'}') echo 1;; *) echo "no n" >&2; exit 1;; esac`;

/** Checks a tool, and returns the verdict and the steps that are not ok. Another test covers its duration. */
async function check(script: string, options: CheckOptions = {}, mode = 0o755) {
  using folder = new ToolsFolder();
  const path = folder.add('tool', script, mode);
  const { steps } = await checkTool(path, { timeoutMs: 20_000, ...options });
  const counted = steps.filter(({ name, verdict }) => name !== 'ended early' || verdict === 'skipped');
  const has = (verdict: string): boolean => counted.some((step) => step.verdict === verdict);
  const verdict = has('failed') ? 'broken' : has('warning') ? 'usable' : 'good';
  const notOk = counted.filter((step) => step.verdict !== 'ok');
  return [verdict, ...notOk.map(({ name, verdict: of, message }) => [name, of, message])];
}

describe('checkTool()', () => {
  it('finds a good tool good, and calls it with arguments made of its schema', async () => {
    expect(await check(scriptOf(GOOD, DOCUMENT))).toEqual(['good']);
  });

  it('does not call a tool that may change something, unless arguments are given', async () => {
    const { effects: _, ...silent } = DOCUMENT;
    const skipped = expect.stringContaining('--args');
    expect(await check(scriptOf('touch "$0.called"; echo 1', silent))).toEqual([
      'usable',
      ['effects', 'warning', expect.stringContaining('every call needs approval')],
      ['call', 'skipped', skipped],
      ['side by side', 'skipped', skipped],
      ['broken input', 'skipped', skipped],
      ['ended early', 'skipped', skipped],
    ]);
    expect(await check(scriptOf(GOOD, silent), { args: { n: 5 } })).toEqual([
      'usable',
      ['effects', 'warning', expect.any(String)],
    ]);
    expect(await check(scriptOf(GOOD, DOCUMENT), { args: { n: 'x' } })).toEqual([
      'broken',
      ['call', 'failed', expect.stringContaining('do not fit input_schema')],
    ]);
  });

  it.each([
    ['may not be executed', scriptOf(GOOD, DOCUMENT), 0o644, 'file', 'chmod +x'],
    ['others may write', scriptOf(GOOD, DOCUMENT), 0o757, 'file', 'may be written by every user'],
    ['cannot be started', '#!/nonexistent/interpreter\n', 0o755, 'schema', 'ENOENT'],
    ['prints no schema', '#!/bin/sh\n:\n', 0o755, 'schema', 'it printed nothing'],
    [
      'prints a wrong schema',
      '#!/bin/sh\necho \'{"input_schema":{"type":3}}\'\n',
      0o755,
      'schema',
      'output_schema is missing',
    ],
    ['prints no text as its schema', '#!/bin/sh\nhead -c 2000 /dev/urandom\n', 0o755, 'schema', '--schema'],
    ['floods at --schema', '#!/bin/sh\nyes\n', 0o755, 'schema', 'printed more than 1048576 bytes'],
  ])('finds a tool broken that %s', async (_, script, mode, step, message) => {
    expect(await check(script, {}, mode)).toEqual([
      'broken',
      [step, 'failed', expect.stringContaining(message)],
    ]);
  });

  it.each([
    ['never ends', 'sleep 60', 'it did not end within 300 ms'],
    ['floods', 'yes', 'it wrote more than 16777216 bytes'],
    ['prints no JSON', 'echo hello', 'its output is not one JSON value'],
    ['prints no text', String.raw`printf '\377\376'`, 'its output is not UTF-8 text'],
    ['breaks its output schema', 'echo \'"a text"\'', 'expected an integer'],
    ['fails', 'echo broken >&2; exit 9', 'exit code 9: broken'],
    ['is killed', 'kill -9 $$', 'it was ended by SIGKILL'],
  ])('finds a tool broken that %s', async (_, body, message) => {
    const timeoutMs = body === 'sleep 60' ? 300 : 20_000;
    const found = await check(scriptOf(body, DOCUMENT), { timeoutMs });
    expect(found[0]).toBe('broken');
    expect(found).toContainEqual(['call', 'failed', expect.stringContaining(message)]);
  });

  it('warns of a tool that describes itself differently each time, ignores arguments, or has no description', async () => {
    const changing = `#!/bin/sh\n[ "$1" = --schema ] && { echo '${JSON.stringify(DOCUMENT).slice(0, -1)},"at":'$(date +%N | sed 's/^0*//')'}'; exit; }\n${GOOD}\n`;
    expect(await check(changing)).toEqual(['usable', ['schema again', 'warning', expect.any(String)]]);
    expect(await check(scriptOf('echo 1', DOCUMENT))).toEqual([
      'usable',
      ['broken input', 'warning', 'it succeeds with arguments that are not JSON'],
    ]);
    const { description, version, ...bare } = DOCUMENT;
    expect([description, version]).toEqual(['d', '1']);
    expect(await check(scriptOf(GOOD, bare))).toEqual([
      'usable',
      ['description', 'warning', expect.any(String)],
      ['version', 'warning', 'there is none'],
    ]);
  });

  it('reports a tool that ignores SIGTERM', { tags: ['soak'] }, async () => {
    using folder = new ToolsFolder();
    const path = folder.add('tool', scriptOf(`trap '' TERM\nread -r l; sleep 60`, DOCUMENT));
    const { verdict, steps } = await checkTool(path, { timeoutMs: 300, breakOffMs: 300 });
    expect(verdict).toBe('broken');
    expect(steps.at(-1)).toEqual({
      name: 'ended early',
      verdict: 'warning',
      message: 'it ignores SIGTERM, and was killed',
    });
  });

  it('reads the lines of a tool that streams', async () => {
    const lines = `read -r l; case $l in '{"n":'*'}') ;; *) exit 1;; esac; echo '{"type":"progress","message":"on"}'`;
    const streaming = { ...DOCUMENT, streaming: true };
    const good = `${lines}; echo '{"type":"result","value":1}'`;
    expect(await check(scriptOf(good, streaming))).toEqual(['good']);
    expect(await check(scriptOf(lines, streaming))).toContainEqual(['call', 'failed', 'it gave no result']);
  });

  it('calls a serving tool more than once', { tags: ['soak'] }, async () => {
    expect(await check(servingScript('answer 1', GOOD, DOCUMENT))).toEqual(['good']);
    expect(await check(servingScript(`answer '"x"'`, GOOD, DOCUMENT))).toContainEqual([
      'serve',
      'failed',
      expect.stringContaining('expected an integer'),
    ]);
    expect(await check(servingScript('exit 3', GOOD, DOCUMENT))).toContainEqual([
      'serve',
      'failed',
      expect.any(String),
    ]);
  });

  it('reports a file that does not exist', async () => {
    using folder = new ToolsFolder();
    expect((await checkTool(join(folder.root, 'nowhere'))).steps).toMatchObject([
      { message: 'it does not exist' },
    ]);
  });
});
