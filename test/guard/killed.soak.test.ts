import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { useToolexec } from '../cli/toolexec.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { expectNoOrphan, killed, numbers, timeOf } from './random-kills.js';

const WHY_NOT = await whyNoTransactions();
const KILLS = soakSize('KILLS', { short: 3, whole: 30 });
const toolexec = useToolexec({ ownProcess: true });
const inRoot = (name: string): string => join(toolexec.root, name);

describe(`toolexec hook, killed ${KILLS} times at random instants`, () => {
  it(
    'leaves a record with the known state: the call continues, once, and can be undone',
    async () => {
      toolexec.write(
        '.config/toolexec/config.toml',
        '[tools.approval]\nallowlist = ["read_file", "write_file", "edit_file"]\n',
      );
      const random = numbers(Number(process.env.SEED ?? 20_261_127));
      const documentOf = (event: string, id: string): string =>
        JSON.stringify({
          ...{ session_id: id, cwd: toolexec.root, hook_event_name: event, permission_mode: 'default' },
          ...{ tool_name: 'Write', tool_use_id: id, tool_response: {} },
          tool_input: { file_path: inRoot('a'), content: 'new' },
        });
      const wholeMs = await timeOf(() =>
        toolexec.run(['hook'], { stdin: documentOf('PreToolUse', 'first') }),
      );
      const when = { random, wholeMs };
      let kills = 0;
      for (let trial = 0; trial < KILLS; trial++) {
        const id = `toolu_${trial}`;
        writeFileSync(inRoot('a'), 'old');
        const before = await killed(toolexec, ['hook'], documentOf('PreToolUse', id), when);
        if (before === null) kills++;
        // The agent sends the document again: these agents repeat a failed hook, or the person repeats the call.
        const again = await toolexec.run(['hook'], { stdin: documentOf('PreToolUse', id) });
        expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('"allow"')]);
        writeFileSync(inRoot('a'), 'new');
        if ((await killed(toolexec, ['hook'], documentOf('PostToolUse', id), when)) === null) kills++;
        const listed = await toolexec.run(['journal', 'show', id]);
        expect(listed.stdout.match(/Write|write_file/g)?.length).toBeGreaterThan(0);
        await toolexec.run(['hook'], { stdin: documentOf('Stop', id) });
        expect((await toolexec.run(['undo', id])).code).toBe(0);
        expect(readFileSync(inRoot('a'), 'utf8')).toBe('old');
      }
      expect(kills).toBeGreaterThan(0);
      expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
      await expectNoOrphan(toolexec);
    },
    KILLS * 30_000,
  );
});

describe.skipIf(WHY_NOT !== '')(`toolexec try, killed ${KILLS} times at random instants${WHY_NOT}`, () => {
  it(
    'has kept all or nothing, once, and leaves no process',
    async () => {
      mkdirSync(inRoot('d'));
      const line = 'echo x >>d/a; echo x >>d/b; echo x >>d/c';
      const args = ['try', '--keep', '--', line];
      const random = numbers(Number(process.env.SEED ?? 20_261_128));
      const when = { random, wholeMs: await timeOf(() => toolexec.run(args)) };
      const names = ['d/a', 'd/b', 'd/c'];
      let kills = 0;
      for (let trial = 0; trial < KILLS; trial++) {
        for (const name of names) rmSync(inRoot(name), { force: true });
        if ((await killed(toolexec, args, '', when)) === null) kills++;
        await expectNoOrphan(toolexec);
        // The next command completes or undoes a commit that a kill has interrupted.
        expect((await toolexec.run(['try', '--discard', '--', 'true'])).code).toBe(0);
        const contents = names.map((name) =>
          existsSync(inRoot(name)) ? readFileSync(inRoot(name), 'utf8') : '',
        );
        expect([
          ['', '', ''],
          ['x\n', 'x\n', 'x\n'],
        ]).toContainEqual(contents);
      }
      expect(kills).toBeGreaterThan(0);
      expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
    },
    KILLS * 30_000,
  );
});
