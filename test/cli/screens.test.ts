import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { builtCommand } from './built-command.js';
import { leaveHalfDone } from './leave-half-done.js';
import { hasScreens, type Screen, type ScreenSettings, Screens } from './screen.js';
import { Toolexec } from './toolexec.js';

const WHY_NOT = await whyNoTransactions();

let screens: Screens;
beforeAll(() => {
  builtCommand();
  screens = new Screens();
}, 240_000);
afterAll(() => screens.close());

/** The parts that differ from run to run. */
function steady(text: string): string {
  return (
    text
      .replace(/\b\d+ min \d\d s\b|\b\d+(?:\.\d)? m?s\b/g, '# ms')
      .replace(/about \S+ tokens/g, 'about # tokens')
      .replace(/^\d\d:\d\d:\d\d /gm, '##:##:## ')
      .replace(/\b(batch|approve|--resume|--discard) [0-9a-z-]{8,}/g, '$1 ########')
      .replace(/\S*toolexec-cli-[^/ ]*/g, '/FOLDER')
      // Other calls are slow only on a busy machine.
      .replace(/^(?:##:##:## )?[▸…] (?!bash \(long\)).*\n/gm, '')
      .replace(/^(… bash \(long\).*\n)(?:… bash \(long\).*\n)+/gm, '$1')
      .replace(/[ \t]+$/gm, '')
  );
}

interface Desk extends Disposable {
  readonly toolexec: Toolexec;
  readonly journal: string;
  /** For all commands: the same journal and configuration. */
  readonly options: readonly string[];
  open(
    words: readonly string[],
    settings?: Partial<ScreenSettings> & { readonly output?: 'file' | 'screen' },
  ): Screen;
  /** `toolexec run` of these calls; results are in a file, so that the screen is the person's alone. */
  run(calls: unknown, settings?: Partial<ScreenSettings>, ...words: string[]): Screen;
}

function desk(): Desk {
  const toolexec = new Toolexec();
  const journal = join(toolexec.folder, 'journal.db');
  const config = toolexec.write('toolexec.toml', BARE);
  const options = ['--journal', journal, '--config', config];
  const open: Desk['open'] = (words, { env = {}, output = 'file', ...more } = {}) => {
    const program = [process.execPath, toolexec.main, ...words];
    const behind = output === 'file' ? ['sh', '-c', 'exec "$@" >../results.json', 'sh'] : [];
    return screens.open([...behind, ...program], {
      cwd: toolexec.root,
      ...more,
      env: toolexec.environment({ NO_COLOR: '1', TZ: 'UTC', ...env }),
    });
  };
  return {
    toolexec,
    journal,
    options,
    open,
    run: (calls, settings, ...words) => {
      const file = toolexec.json('r.json', calls);
      return open(['run', file, ...options, '--conversation', 'c', ...words], settings);
    },
    [Symbol.dispose]: () => toolexec.remove(),
  };
}

/** A model that always says the same. */
async function serveModel(words: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => {
    const choice = { index: 0, delta: { content: words }, finish_reason: 'stop' };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify({ id: 'r', choices: [choice] })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The same on every machine; and a command sees the file that ends it. */
const BARE = '[tools.sandbox]\ntransactions = "off"\n[tools.run_command]\nsandbox = "off"\n';

const AFTER =
  '[tools.bash]\napproval = "after"\n[tools.sandbox]\ntransactions = "required"\n[tools.run_command]\nsandbox = "required"\nnetwork = false\n';

/** Nothing contains these commands. */
async function sayYes(screen: Screen, call: string): Promise<void> {
  await screen.shows(new RegExp(`${call}[\\s\\S]*Type yes and Enter[^?]*:`));
  screen.type('yes');
  screen.press('Enter');
}

const ASKED = /\?\s+keys:/;

/** 302 changes, with too many names to show them all. */
const MANY =
  "for i in $(seq 1 299); do echo $i >f$i; done; chmod 755 run.sh; ln -s 'to here' l; touch $'evil\\xe2\\x80\\xaegpj\\xff.sh'";

const bash = (id: string, command: string) => ({ id, name: 'bash', args: { command } });
const MIXED = [
  { id: 'r1', name: 'read_file', args: { path: 'a.txt' } },
  bash('long', 'echo step 1; until [ -e go ]; do sleep 0.1; done; echo step 2'),
  bash('b2', 'echo FAIL adds; echo expected 2 to be 3 >&2; exit 3'),
  { id: 'w1', name: 'write_file', args: { path: 'b.txt', content: 'hello\n' } },
  bash('b3', 'rm -rf build'),
  { id: 'r2', name: 'read_file', args: { path: 'nope.txt' } },
];

describe
  .skipIf(!hasScreens)
  .concurrent('the screen (skipped where tmux is not installed)', { timeout: 180_000 }, () => {
    it('shows the question, the selection, and a line for every other call', async ({ expect }) => {
      using at = desk();
      writeFileSync(join(at.toolexec.root, 'a.txt'), 'hi\n');
      const screen = at.run(MIXED, { columns: 160, rows: 50 });
      await screen.shows('numbers select');
      screen.type('1');
      await screen.shows('(selected: 1;');
      screen.type('2');
      await screen.shows('(selected: 1, 2;');
      screen.type('3');
      await screen.shows('(selected: 1, 2, 3;');
      screen.press('Enter');
      await sayYes(screen, '⚠ 1. bash');
      await sayYes(screen, '⚠ 2. bash');
      await screen.shows('… bash (long)');
      writeFileSync(join(at.toolexec.root, 'go'), '');
      const { code, text } = await screen.ended();
      await expect(steady(text)).toMatchFileSnapshot('screens/run.txt');
      expect(code).toBe(1);
    });

    for (const env of [{ TERM: 'dumb' }, { TERM: 'screen', NO_COLOR: '' }]) {
      const tags = env.NO_COLOR === undefined ? [] : ['soak'];
      it(`shows the same words with ${JSON.stringify(env)}`, { tags }, async ({ expect }) => {
        using at = desk();
        const screen = at.run(MIXED.slice(2, 4), { columns: 160, env });
        await screen.shows('numbers select');
        screen.type('y');
        await sayYes(screen, '⚠ 1. bash');
        await expect(steady((await screen.ended()).text)).toMatchFileSnapshot('screens/words.txt');
      });
    }

    it('fits 40 columns with wide characters, and is redrawn when the window is resized', {
      tags: ['soak'],
    }, async ({ expect }) => {
      using at = desk();
      const wide = {
        id: 'w',
        name: 'write_file',
        args: { path: '説明/最初のファイル.txt', content: `${'説明'.repeat(30)}\n` },
      };
      const screen = at.run([wide], { columns: 40, rows: 60 });
      const first = await screen.shows(/\?\s+keys:/);
      await expect(steady(first)).toMatchFileSnapshot('screens/40-columns.txt');
      screen.resize(70, 60);
      const second = await screen.shows(/your approval[\s\S]*your approval[\s\S]*\? keys:/);
      await expect(steady(second)).toMatchFileSnapshot('screens/resized.txt');
      screen.type('n');
      await screen.ended();
    });

    it.skipIf(WHY_NOT !== '')(
      `pages every path that a command has changed, before it is committed${WHY_NOT}`,
      { tags: ['soak'] },
      async ({ expect }) => {
        using at = desk();
        at.toolexec.write('root/run.sh', 'x\n');
        const config = at.toolexec.write('after.toml', AFTER);
        const file = at.toolexec.json('r.json', [bash('many', MANY)]);
        const words = ['run', file, '--config', config, '--journal', at.journal, '--conversation', 'c'];
        const screen = at.open(words, { columns: 40, rows: 120 });
        let text = await screen.shows(/refuses all —/);
        for (let pages = 2; !ASKED.test(text) && pages < 60; pages++) {
          screen.type(' ');
          text = await screen.shows(new RegExp(`(?:refuses all —[\\s\\S]*){${pages}}|${ASKED.source}`));
        }
        const all = screen.text();
        for (let number = 1; number <= 299; number++) expect(all).toContain(`+ f${number}  644, `);
        expect(all.split('\n').every((line) => line.length <= 40)).toBe(true);
        await expect(
          steady(
            all
              .replace(/^— \d+ lines? more: any[\s\S]*?refuses all —.*\n/gm, '')
              .replace(/(?:.*\+ f\d+ .*\n)+/g, '   + f…\n')
              .replace(/(?:.*new file f.*\n.*\n)+/g, '   new file f…\n'),
          ),
        ).toMatchFileSnapshot('screens/changes.txt');
        screen.type('y');
        expect((await screen.ended()).code).toBe(0);
        expect(readFileSync(join(at.toolexec.root, 'f299'), 'utf8')).toBe('299\n');
      },
    );

    it('explains the keys, shows all of a call, and refuses with a reason', { tags: ['soak'] }, async ({
      expect,
    }) => {
      using at = desk();
      const content = Array.from({ length: 95 }, (_, line) => `line ${line}\n`).join('');
      const screen = at.run([{ id: 'w', name: 'write_file', args: { path: 'long.txt', content } }], {
        rows: 150,
      });
      await screen.shows('numbers select');
      screen.type('?');
      await screen.shows('cancel the batch');
      screen.type('d');
      await screen.shows('+ line 94');
      screen.type('r');
      await screen.shows('Reason, for the model');
      screen.type('not here');
      screen.press('Enter');
      await expect(steady((await screen.ended()).text)).toMatchFileSnapshot('screens/keys.txt');
    });

    it('watches other processes, asks about waiting batches, and reports a decision made elsewhere', async ({
      expect,
    }) => {
      using at = desk();
      const run = (name: string, calls: unknown, ...words: string[]) =>
        at.toolexec.run(['run', at.toolexec.json(name, calls), ...at.options, ...words]);
      const open = () => at.open(['watch', ...at.options], { columns: 160, rows: 60, output: 'screen' });
      const [first, second] = [open(), open()];
      await first.shows('there is no journal yet');
      await second.shows('there is no journal yet');
      await run('one.json', [bash('x', 'echo one; exit 3')], '--yes', '--conversation', 'c1');
      await first.shows('✗ bash (x)');
      await run('two.json', [bash('y', 'echo two')], '--defer', '--conversation', 'c2');
      await first.shows('numbers select');
      await second.shows('numbers select');
      first.type('y');
      await sayYes(first, '⚠ 1. bash');
      await first.shows('✓ bash (y)');
      await second.shows('decided elsewhere in the meantime');
      await second.shows('✓ bash (y)');
      first.press('C-c');
      const { code, text } = await first.ended();
      await expect(steady(text)).toMatchFileSnapshot('screens/watch.txt');
      expect(code).toBe(0);

      await run('three.json', [bash('z', 'echo three')], '--defer', '--conversation', 'c3');
      await second.shows(/batch \S+ of c3[\s\S]*numbers select/);
      second.press('Escape');
      await second.shows('keeps waiting: toolexec approve');

      // Two processes answer at the same time: one of them has decided.
      const third = open();
      await third.shows(/c3[\s\S]*numbers select/);
      third.press('Escape');
      await third.shows('keeps waiting');
      await run('four.json', [bash('q', 'echo four')], '--defer', '--conversation', 'c4');
      for (const screen of [second, third]) await screen.shows(/c4[\s\S]*numbers select/);
      second.type('y');
      await second.shows(/c4[\s\S]*Type yes and Enter[^?]*:/);
      second.type('yes');
      second.press('Enter');
      third.type('n');
      const marks = /✓ bash \(q\)|⊘ bash \(q\)/;
      const told = [await second.shows(marks), await third.shows(marks)];
      await Promise.any([second, third].map((screen) => screen.shows(/c4[\s\S]*elsewhere/)));
      expect(new Set(told.map((text) => marks.exec(text)?.[0])).size).toBe(1);
      for (const screen of [second, third]) screen.press('C-c');
      expect([(await second.ended()).code, (await third.ended()).code]).toEqual([0, 0]);
    });

    it('shows a batch after a crash with its known outcomes, and accepts outcomes from the person', async ({
      expect,
    }) => {
      using at = desk();
      await leaveHalfDone(
        at.journal,
        ['one', 'two', 'three'].map((name, index) => bash(`call_${index}`, `touch ${name}`)),
      );
      const screen = at.open(['journal', 'recover', ...at.options], { output: 'screen' });
      await screen.shows('? keys:');
      screen.type('s');
      await screen.shows('Did it take effect?');
      screen.type('y');
      await screen.shows('done, you say');
      screen.type('r');
      const { code, text } = await screen.ended();
      await expect(steady(text)).toMatchFileSnapshot('screens/recovery.txt');
      expect(code).toBe(0);
    });

    it('shows pasted lines in chat unchanged, and again from the history, in 60 columns', {
      tags: ['soak'],
    }, async ({ expect }) => {
      using at = desk();
      await using model = await serveModel('Heard.');
      const named = ['--model', 'openai/test', '--base-url', model.url];
      const screen = at.open(['chat', ...named, ...at.options], { columns: 60, output: 'screen' });
      await screen.shows('› ');
      screen.paste('one\ntwo, which is so long that it does not fit into sixty columns\nthree');
      await screen.shows('three');
      screen.press('Enter');
      await screen.shows(/Heard\.[\s\S]*›\s*$/);
      screen.press('Up');
      await screen.shows(/Heard\.[\s\S]*three/);
      screen.press('Home');
      screen.type('zero ');
      const pasted = await screen.shows('zero one');
      await expect(steady(pasted.slice(pasted.indexOf('› ')))).toMatchFileSnapshot('screens/chat-paste.txt');
      screen.press('C-u', 'C-k', 'C-d');
      expect((await screen.ended()).code).toBe(0);
    });

    it('lists pending calls in mode parse_only, and says how to answer them by hand', {
      tags: ['soak'],
    }, async ({ expect }) => {
      using at = desk();
      const config = at.toolexec.write('parse.toml', '[tools]\nmode = "parse_only"\n');
      const file = at.toolexec.json('r.json', [MIXED[3], bash('b', "echo 'hi there'")]);
      const screen = at.open(['run', file, '--config', config, '--journal', at.journal], { columns: 140 });
      const { code, text } = await screen.ended();
      await expect(steady(text)).toMatchFileSnapshot('screens/parse-only.txt');
      expect(code).toBe(1);
    });
  });
