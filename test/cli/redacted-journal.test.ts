import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createExecutor, createToolLoop } from '../../src/index.js';
import { createScriptedModel } from '../../src/testing.js';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const SECRET = 'Secret-Zebra-9';
const ASKED = message(['bash', { command: `echo ${SECRET}` }]);

describe('[journal] redact', () => {
  it('removes arguments from the output of every command; repair still recognises the call', async () => {
    const config = toolexec.write('own.toml', '[journal]\nredact = ["bash/command"]\n');
    const file = join(toolexec.folder, 'state', 'calls.db');
    const journal = ['--journal', file];
    const run = async (...args: readonly string[]) => toolexec.run([...args, ...journal]);
    const ran = await toolexec.run(['run', '-', '--yes', '--config', config, ...journal], {
      stdin: JSON.stringify(ASKED),
    });
    expect([ran.code, ran.stdout.includes(SECRET)]).toEqual([0, true]);
    const again = await toolexec.run(['run', '-', '--yes', '--config', config, ...journal], {
      stdin: JSON.stringify(ASKED),
    });
    expect(JSON.parse(again.stdout).content[0].content).toBe('[REDACTED]\n');
    for (const args of [
      ['journal', 'show', 'toolu_1'],
      ['journal', 'export'],
      ['journal', 'list', '--json'],
    ]) {
      const { code, stdout } = await run(...args);
      expect([code, stdout.includes(SECRET)]).toEqual([0, false]);
    }
    const page = await run('journal', 'show', 'toolu_1', '--html', '-');
    expect([page.code, page.stdout.includes(SECRET), page.stdout.includes('[REDACTED hmac-sha256:')]).toEqual(
      [0, false, true],
    );
    expect((await run('journal', 'show', 'toolu_1')).stdout).toContain('[REDACTED hmac-sha256:');
    const replay = await run('policy', 'replay', '--config', config);
    expect(replay.stdout).toContain("1 not evaluated: the call's arguments were left out of the journal\n");
    const repaired = await toolexec.run(['repair', '-', ...journal], {
      stdin: JSON.stringify([{ role: 'user', content: 'Go.' }, ASKED]),
    });
    expect(JSON.stringify(JSON.parse(repaired.stdout).at(-1))).toContain('"content":"[REDACTED]\\n"');
    const folder = join(toolexec.folder, 'state');
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const { name } = entry;
      expect([name, readFileSync(join(folder, name), 'latin1').includes(SECRET)]).toEqual([name, false]);
    }
  });

  it('is refused if a pattern matches nothing, with the pattern and its correction', async () => {
    const config = toolexec.write('own.toml', '[journal]\nredact = ["password"]\n');
    const { code, stderr } = await toolexec.run(['config', 'show', '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toContain('write "/password" for this argument of every tool');
  });
});

describe('a conversation with a model', () => {
  it('is stored without the values that the journal leaves out, and continues in the next process', async () => {
    const file = join(toolexec.folder, 'state', 'loop.db');
    const open = () =>
      createExecutor({
        root: toolexec.root,
        policy: null,
        approver: null,
        journal: { path: file, redactArguments: ['write_file/content'] },
      });
    await using executor = open();
    const call = { name: 'write_file', args: { path: 'a.txt', content: SECRET } };
    const model = createScriptedModel([{ text: 'I write it.', calls: [call] }, { text: `It is ${SECRET}.` }]);
    const first = createToolLoop({ executor, model, conversation: 'c' });
    expect((await first.run('Write it.')).text).toBe(`It is ${SECRET}.`);
    expect(readFileSync(join(toolexec.root, 'a.txt'), 'utf8')).toBe(SECRET);
    const shown = await toolexec.run(['journal', 'show', 'c', '--html', '-', '--journal', file]);
    expect([shown.code, shown.stdout.includes(SECRET)]).toEqual([0, false]);
    expect(shown.stdout).toContain('a.txt: the call&#39;s arguments were left out of the journal');
    for (const name of readdirSync(join(toolexec.folder, 'state'))) {
      if (!name.startsWith('loop.db') || name.endsWith('-outputs') || name.endsWith('-transactions'))
        continue;
      const bytes = readFileSync(join(toolexec.folder, 'state', name), 'latin1');
      expect([name, bytes.includes(SECRET)]).toEqual([name, false]);
    }
    await using later = open();
    const next = createToolLoop({
      executor: later,
      model: createScriptedModel([{ text: 'Done.' }]),
      conversation: 'c',
    });
    await next.run('Go on.');
    const said = JSON.stringify(next.messages);
    expect(said).toMatch(/"content":"\[REDACTED hmac-sha256:[^"]+\]"/);
    expect(said).toContain('It is [REDACTED].');
  });
});
