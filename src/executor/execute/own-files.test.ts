import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import { configHome, stateHome } from '../../platform/runtime/environment.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';

/** A home directory as the root: later programs may read a file that a command creates there. */
let home: string;
const NAMES = ['HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME'] as const;
const kept = NAMES.map((name) => [name, process.env[name]] as const);

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'own-files-')));
  process.env.HOME = home;
  delete process.env.XDG_STATE_HOME;
  delete process.env.XDG_CONFIG_HOME;
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
  for (const [name, value] of kept) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

interface Told {
  readonly output: string;
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
  readonly isTransaction: boolean;
}

async function run(command: string, options: ExecutorOptions = {}, inBackground = false): Promise<Told> {
  const executor = createExecutor({ root: home, approver: null, ...options });
  try {
    const { output, error, metadata } = await executor.execute('bash', {
      command,
      run_in_background: inBackground,
    });
    const { changes, sandbox } = metadata as {
      changes?: Pick<Told, 'refused'>;
      sandbox?: { transaction?: boolean };
    };
    const said = output === '' ? (error?.message ?? '') : output;
    return { output: said, refused: changes?.refused ?? [], isTransaction: sandbox?.transaction === true };
  } finally {
    await executor.close();
  }
}

/**
 * The files that the next run of toolexec, git, a shell and others would read, by the names used to read
 * them.
 */
function obeyed(): readonly string[] {
  return [
    ...[configHome(process.env), stateHome(process.env)].map((place) =>
      join(place, 'toolexec', 'config.toml'),
    ),
    join(configHome(process.env), 'git', 'config'),
    join(configHome(process.env), 'fish', 'config.fish'),
    join(home, '.gitconfig'),
    join(home, '.bashrc'),
    join(home, '.kube', 'config'),
  ].filter(existsSync);
}

const EVIL =
  'mkdir -p x/toolexec x/git x/fish; for f in toolexec/config.toml git/config fish/config.fish config; do echo evil >x/$f; done;';

const ATTACKS: readonly [string, string][] = [
  ['an absolute link', `${EVIL} ln -s "$PWD/x" .config`],
  ['a directory that is renamed', `${EVIL} mv x .config`],
  [
    'plain files',
    'mkdir -p .config/toolexec .config/git .config/fish .kube; for f in .config/toolexec/config.toml .config/git/config .config/fish/config.fish .gitconfig .bashrc .kube/config; do echo evil >$f; done',
  ],
  ['a relative link', `${EVIL} ln -s x .config; ln -s x .kube`],
  [
    'a link to where nothing is yet',
    'ln -s x .config; mkdir -p x/toolexec x/git; echo evil >x/toolexec/config.toml; echo evil >x/git/config',
  ],
  ['a link that takes the place of a link', `${EVIL} ln -s y .config; ln -sfn x .config`],
  ['a link to a link', `${EVIL} ln -s x y; ln -s y .config; ln -s y .kube`],
  ['a link that is renamed', `${EVIL} ln -s x y; mv y .config; ln -s x z; mv z .kube`],
  ['a hard link to a link', `${EVIL} ln -s x y; ln -P y .config`],
  [
    'a link two levels up',
    'mkdir -p x/state/toolexec; echo evil >x/state/toolexec/config.toml; rm -rf .local; ln -s x .local',
  ],
  ['a link one level up', `rm -rf .local/state; mkdir -p .local; ${EVIL} ln -s ../x .local/state`],
  [
    'a directory whose links are renamed with it',
    `${EVIL} mkdir d; ln -s ../x d/state; rm -rf .local; mv d .local`,
  ],
  [
    'a directory that is emptied and replaced',
    `mkdir .config; echo a >.config/a; mv .config b; ${EVIL} ln -s x .config`,
  ],
  [
    'hard links to what it has written',
    `${EVIL} mkdir -p .config/toolexec .config/git; ln x/config .config/toolexec/config.toml; ln x/config .config/git/config; ln x/config .gitconfig; ln x/config .bashrc`,
  ],
];

describe.skipIf(WHY_NO_SANDBOX)(`what toolexec and others go by in a home directory${WHY_NO_SANDBOX}`, () => {
  eachOf(ATTACKS, 3)('is not led elsewhere by %s', async (_, command) => {
    const { output, refused, isTransaction } = await run(`${command}; echo done >done`);
    expect(isTransaction, output).toBe(true);
    expect(obeyed()).toEqual([]);
    expect(refused).not.toEqual([]);
    // Nothing from such a command is kept.
    expect(existsSync(join(home, 'done'))).toBe(false);
  });

  it('stays where a link of the person leads', { tags: ['soak'] }, async () => {
    const dotfiles = join(home, 'dotfiles');
    const far = realpathSync(mkdtempSync(join(tmpdir(), 'own-files-far-')));
    try {
      for (const place of [dotfiles, far]) {
        rmSync(join(home, '.config'), { force: true });
        mkdirSync(join(place, 'toolexec'), { recursive: true });
        writeFileSync(join(place, 'toolexec', 'config.toml'), 'mine');
        symlinkSync(place, join(home, '.config'));
        const replaced = await run(
          `${EVIL} rm .config; ln -s x .config; mv dotfiles y; chmod 0 dotfiles; mkdir -p dotfiles/toolexec; echo evil >dotfiles/toolexec/config.toml`,
        );
        expect(replaced.refused.map(({ path }) => path)).toContain('.config');
        const removed = await run('rm .config; mkdir .config');
        expect(removed.refused.map(({ path }) => path.replace('/', ''))).toContain('.config');
        expect(readFileSync(join(home, '.config', 'toolexec', 'config.toml'), 'utf8')).toBe('mine');
      }
    } finally {
      rmSync(far, { recursive: true });
    }
  });

  it('can be read by its owner still', async () => {
    mkdirSync(join(home, '.config'));
    const { refused } = await run('chmod 777 .config; rm -rf .local; touch .local');
    expect(refused.map(({ path }) => path)).toEqual(expect.arrayContaining(['.config/', '.local']));
  });

  it('is known wherever the environment says that it is', { tags: ['soak'] }, async () => {
    process.env.XDG_CONFIG_HOME = join(home, 'set', 'up');
    await run(`${EVIL} ln -s ../x set; mkdir -p a; ln -s ../x a/up; mv a set`);
    expect(obeyed()).toEqual([]);
    await run(
      'mkdir -p set/up/git set/up/fish; echo evil >set/up/git/config; echo evil >set/up/fish/config.fish; echo fine >set/up/other',
    );
    expect(obeyed()).toEqual([]);
    expect(existsSync(join(home, 'set/up/other'))).toBe(false);
  });

  it('is the journal too, where the library is given one in a root', { tags: ['soak'] }, async () => {
    const journal = join(home, 'records', 'journal.db');
    const first = await run('echo x >a', { journal });
    expect(first.isTransaction).toBe(true);
    const second = await run('echo evil >records/journal.db-x; rm -rf records; ln -s x records', { journal });
    expect(second.refused.map(({ path }) => path)).toContain('records');
    expect(existsSync(join(home, 'records', 'journal.db-x'))).toBe(false);
  });

  it('is not changed in a preview that becomes real', { tags: ['soak'] }, async () => {
    const executor = createExecutor({ root: home, approver: () => ({ kind: 'approve_all' }) });
    const command = `${EVIL} ln -s x .config; echo done >done`;
    const preview = await executor.preview([{ id: 'one', name: 'bash', args: { command } }]);
    await preview.commit();
    await executor.close();
    expect(existsSync(join(home, 'done'))).toBe(false);
    expect(obeyed()).toEqual([]);
  });

  it('is guarded as well where commands write through', { tags: ['soak'] }, async () => {
    const all = ATTACKS.map(([, command], index) => `(mkdir a${index}; ${command}) 2>/dev/null`).join('\n');
    const { isTransaction } = await run(`${all}\necho done >done`, { sandbox: { transactions: 'off' } });
    expect(isTransaction).toBe(false);
    expect(existsSync(join(home, 'done'))).toBe(true);
    expect(obeyed().filter((path) => path.slice(home.length).includes('toolexec'))).toEqual([]);
  });

  it('lets no command write through where a link leads to it, unless the person agrees', async () => {
    mkdirSync(join(home, 'dotfiles', 'toolexec'), { recursive: true });
    symlinkSync('dotfiles', join(home, '.config'));
    const refused = await run('touch made', { sandbox: { transactions: 'off', os: 'required' } });
    expect(refused.output).toContain("a link to toolexec's own files, which the OS sandbox cannot guard");
    const started = await run('touch made', { sandbox: { os: 'required' } }, true);
    expect(started.output).toContain('which the OS sandbox cannot guard');
    expect((await run('touch kept', { sandbox: { os: 'required' } })).isTransaction).toBe(true);
    expect(existsSync(join(home, 'made'))).toBe(false);
  });

  it('leaves everything else as it was', async () => {
    const { refused } = await run(
      'mkdir -p .config/app project x; echo a >.config/app/b; echo CONFIG_X=y >project/.config; ln -s x link; ln -s ../x .config/linked; rm -r .config/app; echo a >.gitignore',
    );
    expect(refused).toEqual([]);
    expect(existsSync(join(home, '.config', 'linked'))).toBe(true);
  });
});
