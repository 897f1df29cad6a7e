import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useToolexec } from './toolexec.js';

// It starts processes of the crash kit, which lies next to the built command.
const command = useToolexec({ ownProcess: true });

/** A module with a tool that writes a line for each call, and answers questions about it if `honest`. */
function writeModule(probe: string): string {
  const door = pathToFileURL(join(dirname(dirname(command.main)), 'index.js')).href;
  const book = JSON.stringify(join(command.folder, 'book'));
  return command.write(
    'tool.mjs',
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { defineTool } from ${JSON.stringify(door)};
const lines = () => readFileSync(${book}, 'utf8').split('\\n');
export default defineTool({
  name: 'note', description: 'Notes.', input: { type: 'object' },
  execute: (_, { callId }) => { appendFileSync(${book}, callId + '\\n'); return 'noted'; },
  probe: ${probe},
});
export const calls = [{ id: 'a', name: 'note', args: {} }];
export const prepare = () => writeFileSync(${book}, '');
export const observe = () => ({ a: lines().filter((line) => line === 'a').length });
export const knowable = ['a'];
`,
  );
}

const TRUE_PROBE = `(_, { callId }) => (lines().includes(callId) ? 'applied' : 'not_applied')`;

describe('toolexec tools crash', () => {
  it('passes a tool whose calls get one truthful answer, whenever it is killed', async () => {
    const { code, stdout, stderr } = await command.run([
      'tools',
      'crash',
      writeModule(TRUE_PROBE),
      '--kills',
      '1',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^PASSED: \d+ kills in \d+ rounds of 1 call \(\d+ steps of the journal/);
  });

  it('fails a tool whose probe lies, and reports the place', async () => {
    const module = writeModule(`() => 'not_applied'`);
    const { code, stdout } = await command.run(['tools', 'crash', module, '--kills', '0', '--json']);
    expect(code).toBe(1);
    const { passed, problems } = JSON.parse(stdout);
    expect(passed).toBe(false);
    expect(problems[0]).toEqual({
      kind: 'untrue_result',
      killed: expect.stringMatching(/^(before|after) step \d+ \(\w+\)$/),
      callId: 'a',
      message: 'Its effect has happened, and its result is cancelled, executed: no.',
    });
  });

  it.each([
    [['./no-such.mjs'], /^toolexec: Cannot import the tools' module .*no-such\.mjs/],
    [['tool.mjs', 'note', '{"a":'], /^toolexec: Cannot read the arguments: /],
    [['tool.mjs', 'other'], /^toolexec: The batch fails even when it is not killed: .*other/],
    [['tool.mjs', '--kills', 'many'], /must be a whole number/],
  ])('says what is wrong with %j', async (args, message) => {
    writeModule(TRUE_PROBE);
    const { code, stdout, stderr } = await command.run(['tools', 'crash', ...args], { cwd: command.folder });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain('\n    at ');
  });
});
