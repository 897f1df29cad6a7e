import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/open-journal.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { leaveHalfDone } from './leave-half-done.js';
import { hasTerminal, type Sat, type Sitting, sitBefore } from './terminal.js';
import { useToolexec } from './toolexec.js';

const toolexec = useToolexec();
let journal: string;
beforeEach(() => {
  journal = toolexec.journal;
});

const CALLS = ['one', 'two', 'three'].map((name, index) => ({
  id: `call_${index}`,
  name: 'bash',
  args: { command: `touch ${name}` },
}));
const NEW = { id: 'new', name: 'bash', args: { command: 'touch new' } };

function sit(words: readonly string[], types: Sitting['types'], env = {}): Promise<Sat> {
  return sitBefore([process.execPath, toolexec.main, ...words], {
    env: toolexec.environment({ TERM: 'xterm', ...env }),
    cwd: toolexec.root,
    types,
  });
}

function run(
  calls: unknown,
  types: Sitting['types'],
  env: Readonly<Record<string, string>> = {},
  ...more: readonly string[]
): Promise<Sat> {
  const file = toolexec.json('r.json', calls);
  return sit(['run', file, '--journal', journal, '--conversation', 'c', ...more], types, env);
}

const codes = (stdout: string): unknown =>
  (JSON.parse(stdout) as { error?: { code: string } }[]).map(({ error }) => error?.code ?? 'ok');
const isThere = (name: string): boolean => existsSync(join(toolexec.root, name));

const QUESTION = '? keys:';

describe.skipIf(!hasTerminal)(
  'toolexec on a terminal, after a crash (skipped where python3 has no pty)',
  () => {
    it('asks what to do with a half-done batch, and continues when it is resumed', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      await leaveHalfDone(journal, CALLS);
      const { code, stdout, shown } = await run(
        [...CALLS, NEW],
        [
          [QUESTION, 'x'],
          [QUESTION, 'R'],
          ['numbers select', 'y'],
        ],
      );
      expect(shown).toMatch(/call_0\).*done[\s\S]*call_1\).*not known[\s\S]*call_2\).*never started/);
      expect(shown.split('What counts?')).toHaveLength(3);
      expect(codes(stdout)).toEqual(['ok', 'outcome_unknown', 'cancelled', 'ok']);
      expect([code, isThere('new'), isThere('three')]).toEqual([1, true, false]);
      // It was decided, so there is no second question.
      expect((await run(CALLS, [])).shown).not.toContain('What counts?');
    });

    it('answers all of its calls as failed when it is discarded', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      await leaveHalfDone(journal, CALLS);
      const { code, stdout } = await run(CALLS, [
        [QUESTION, 'd'],
        ['Sure?', 'y'],
      ]);
      expect([code, codes(stdout)]).toEqual([1, ['cancelled', 'cancelled', 'cancelled']]);
      const store = openJournal(journal);
      expect((await store.decisions('b1')).map(({ kind }) => kind)).toEqual(['wait', 'discard']);
      await store.close();
    });

    eachOf(
      [
        ['Enter', '\n'],
        ['Ctrl-D', '\u0004'],
      ],
      1,
    )(
      'leaves the batch for later with %s, runs nothing, and exits 4',
      async (_, keys) => {
        await leaveHalfDone(journal, CALLS);
        const { code, stdout, shown } = await run([NEW], [[QUESTION, keys]]);
        expect([code, codes(stdout), isThere('new')]).toEqual([4, ['cancelled'], false]);
        expect(shown).toContain('journal recover --resume b1');
      },
      60_000,
    );

    it('does not ask if CI says that there is no person', { tags: ['soak'], timeout: 180_000 }, async () => {
      await leaveHalfDone(journal, CALLS);
      const { code, shown } = await run([NEW], [], { CI: 'true' }, '--yes');
      expect(code).toBe(4);
      expect(shown).not.toContain('What counts?');
    });
  },
);

describe.skipIf(!hasTerminal)(
  'toolexec on a terminal, asking for approval (skipped where python3 has no pty)',
  () => {
    eachOf<[string, string, readonly string[], number]>(
      [
        ['some', '13\r', ['ok', 'user_denied', 'ok'], 1],
        ['all of them', 'y', ['ok', 'ok', 'ok'], 0],
        ['none', 'n', ['user_denied', 'user_denied', 'user_denied'], 1],
        ['none, with Ctrl-D', '\u0004', ['user_denied', 'user_denied', 'user_denied'], 1],
      ],
      1,
    )(
      'shows every call, and runs %s',
      async (_, keys, expected, exit) => {
        const { code, stdout, shown } = await run(
          CALLS,
          [...keys].map((key) => ['? keys', key] as const),
        );
        expect([code, codes(stdout)]).toEqual([exit, expected]);
        expect(shown).toContain('3 calls need your approval');
        expect(['one', 'two', 'three'].map(isThere)).toEqual(expected.map((each) => each === 'ok'));
      },
      60_000,
    );

    it('decides a deferred batch, and leaves it waiting without an answer', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const deferred = await run(CALLS, [], {}, '--defer');
      expect(deferred.code).toBe(4);
      const { code, stdout, shown } = await sit(
        ['approve', 'c', '--journal', journal],
        [
          ['numbers select', '2'],
          ['selected: 2', '\r'],
        ],
      );
      expect(shown).toContain('3 calls need your approval');
      expect([code, codes(stdout)]).toEqual([1, ['user_denied', 'ok', 'user_denied']]);
      expect(['one', 'two', 'three'].map(isThere)).toEqual([false, true, false]);
      const store = openJournal(journal);
      const [batch] = await store.batches({ conversation: 'c' });
      const calls = await store.batch(batch?.id ?? '');
      const approvals = await Promise.all(calls.map(({ key }) => store.notes(key)));
      await store.close();
      expect(
        approvals.flat().flatMap(({ kind, data }) => (kind === 'approval' ? [data.approved] : [])),
      ).toEqual([false, true, false]);
    });

    it('shows the difference that an edit makes, and takes other arguments from an editor', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      writeFileSync(join(toolexec.root, 'a.txt'), 'old\n');
      const edit = {
        id: 'e',
        name: 'edit_file',
        args: { path: 'a.txt', old_string: 'old', new_string: 'new' },
      };
      const { code, shown } = await run(
        [edit],
        [
          ['numbers select', 'e'],
          ['numbers select', 'y'],
        ],
        { EDITOR: 'sed -i /_string/s/new/mine/2' },
      );
      expect(shown).toMatch(/- old[\s\S]*\+ new/);
      expect([code, readFileSync(join(toolexec.root, 'a.txt'), 'utf8')]).toEqual([0, 'mine\n']);
    });

    it('gives the keyboard to the editor', { tags: ['soak'], timeout: 180_000 }, async () => {
      writeFileSync(join(toolexec.root, 'a.txt'), 'old\n');
      const editor = join(toolexec.folder, 'editor.sh');
      writeFileSync(
        editor,
        'printf "word? "; sleep 0.5; IFS= read -r word; [ "$word" = "a longer word" ] || exit 1\n' +
          'sed -i "/_string/s/new/$word/2" "$1"\n',
      );
      const edit = {
        id: 'e2',
        name: 'edit_file',
        args: { path: 'a.txt', old_string: 'old', new_string: 'new' },
      };
      const { code } = await run(
        [edit],
        [
          ['numbers select', 'e'],
          ['word? ', 'a longer word\n'],
          ['numbers select', 'y'],
        ],
        { EDITOR: `sh '${editor}'` },
      );
      expect([code, readFileSync(join(toolexec.root, 'a.txt'), 'utf8')]).toEqual([0, 'a longer word\n']);
    });

    it('runs an uncontained call only after the word yes', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const remove = { id: 'r', name: 'bash', args: { command: 'rm -f gone' } };
      writeFileSync(join(toolexec.root, 'gone'), '');
      const config = toolexec.write('open.toml', '[tools.run_command]\nsandbox = "off"\n');
      const asked: readonly [string, string][] = [
        ['numbers select', 'y'],
        ['Type yes and Enter', 'y\n'],
        ['Type yes and Enter', '\n'],
        ['numbers select', 'n'],
      ];
      expect((await run([remove], asked, {}, '--config', config)).shown).toContain('⚠ delete gone');
      expect(isThere('gone')).toBe(true);
      const agreed: readonly [string, string][] = [
        ['numbers select', 'y'],
        ['Type yes and Enter', 'yes\n'],
      ];
      expect((await run([{ ...remove, id: 'r2' }], agreed, {}, '--config', config)).code).toBe(0);
      expect(isThere('gone')).toBe(false);
    });

    it("writes a rule into the person's configuration, and does not ask about the next call", {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const list = (id: string) => ({ id, name: 'bash', args: { command: 'ls -la' } });
      const config = join(toolexec.folder, 'config');
      const env = { XDG_CONFIG_HOME: config };
      const first = await run(
        [list('l1')],
        [
          ['numbers select', 'w'],
          ['y writes it', 'y'],
          ['Enter runs the selected', '\r'],
        ],
        env,
      );
      expect(first.code).toBe(0);
      expect(first.shown).toContain('command = "ls -la"');
      expect(readFileSync(join(config, 'toolexec', 'config.toml'), 'utf8')).toContain('command = "ls -la"');
      const second = await run([list('l2')], [], env);
      expect([second.code, second.shown.includes('your approval')]).toEqual([0, false]);
    });

    it('ignores keys that were typed before the question', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const slow = { id: 's', name: 'bash', args: { command: 'touch early' } };
      const { code } = await run(
        [slow],
        [
          ['', 'yyyy'],
          ['numbers select', 'n'],
        ],
      );
      expect([code, isThere('early')]).toEqual([1, false]);
    });

    it('cannot be controlled by text of a model', { tags: ['soak'], timeout: 180_000 }, async () => {
      const wild = [
        { id: 'x\u001b[2J', name: 'bash', args: { command: 'touch wild; printf "\u001b]0;owned\u0007"' } },
      ];
      const { shown } = await run(wild, [['numbers select', 'n']]);
      expect(shown).not.toContain('\u001b[2J');
      expect(shown).not.toContain('\u001b]0;');
      expect(readFileSync(join(toolexec.folder, 'r.json'), 'utf8')).toContain('\\u001b');
    });
  },
);

describe.skipIf(!hasTerminal)(
  'toolexec on a terminal, asking a question (skipped where python3 has no pty)',
  () => {
    it("returns the person's choice to the model, and repeats a question after an invalid answer", async () => {
      const options = [{ label: 'Red' }, { label: 'Blue' }];
      const questions = [
        { header: 'Color', question: 'Which color?', options },
        { header: 'Name', question: 'Which name?', options, multiSelect: true },
      ];
      const call = { id: 'q', name: 'ask_user_question', args: { questions } };
      const { code, stdout, shown } = await run(
        [call],
        [
          ['no answer): ', '7\n'],
          ['no answer): ', '2\n'],
          ['no answer): ', 'Ada\n'],
        ],
      );
      expect(JSON.parse(stdout)).toMatchObject([{ output: 'Color: Blue\nName: Other: Ada' }]);
      expect(shown).toContain('There is no choice 7.');
      expect(code).toBe(0);
    });
  },
);

describe.skipIf(!hasTerminal)(
  'bug: a terminal that closes at a question crashed the process (skipped where python3 has no pty)',
  () => {
    const HANG_UP = 128 + 1;

    it('of run: the call is recorded as refused', async () => {
      const { code } = await run([NEW], [[QUESTION, null]]);
      expect([code, isThere('new')]).toEqual([HANG_UP, false]);
      const { stdout } = await toolexec.run(['journal', 'show', 'c', '--journal', journal]);
      expect(stdout).toMatch(/cancelled|no answer was given/);
    });

    it('of guard install: nothing is written', { tags: ['soak'], timeout: 180_000 }, async () => {
      const { code } = await sit(['guard', 'install', 'claude-code'], [['Write this?', null]]);
      expect([code, isThere('.claude')]).toEqual([HANG_UP, false]);
    });
  },
);
