import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandOutcome } from '../../src/contract/processes.js';
import { type KeptApart, makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

const NOTHING = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

describe.skipIf(WHY_NOT !== '')(`a command's changes${WHY_NOT}`, () => {
  it('are committed and reported when it has ended', async () => {
    here.outside('mkdir sub gone; echo a >a; echo b >sub/b; echo c >gone/c; echo d >d');
    const outcome = await here.run(
      'echo new >n; echo more >>sub/b; rm a; rm -rf gone; mkdir -p x/y; echo z >x/y/z; ln -s n link; chmod 600 d',
    );
    expect(outcome).toMatchObject({ exitCode: 0, sandbox: { kind: 'bubblewrap', transaction: true } });
    expect(outcome.changes).toEqual({
      ...NOTHING,
      created: ['link', 'n', 'x/', 'x/y/', 'x/y/z'],
      modified: ['d', 'sub/b'],
      deleted: ['a', 'gone/', 'gone/c'],
    });
    expect(here.outside('find . -mindepth 1 | sort; cat n sub/b x/y/z; readlink link; stat -c %a d')).toBe(
      './d\n./link\n./n\n./sub\n./sub/b\n./x\n./x/y\n./x/y/z\nnew\nb\nmore\nz\nn\n600\n',
    );
  });

  it('do not touch the root before it has ended', async () => {
    here.outside('echo old >a');
    const running = here.run('echo new >a; echo ready; sleep 0.5', {
      onOutput: () => {
        expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('old\n');
      },
    });
    await running;
    expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('new\n');
  });

  it('leave nothing behind if there are none', async () => {
    here.outside('echo a >a');
    expect((await here.run('cat a; echo x >/tmp/x')).changes).toEqual(NOTHING);
    await expect
      .poll(() => readdirSync(here.place).filter((name) => name.startsWith('transaction-')))
      .toEqual([]);
  });

  it('are kept even if the command fails, or was ended by a signal', {
    tags: ['soak'],
  }, async () => {
    expect((await here.run('echo x >a; exit 3')).changes).toEqual({ ...NOTHING, created: ['a'] });
    expect((await here.run('echo x >b; kill -TERM $$')).changes).toEqual({ ...NOTHING, created: ['b'] });
    expect(here.outside('ls')).toBe('a\nb\n');
  });

  it('are dropped if the shell itself was killed, for example for lack of memory, but not if only one of its processes was', async () => {
    const killed = await here.run('echo x >a; kill -9 $$');
    expect(killed.discarded).toBe('it was killed (SIGKILL), for lack of memory or from outside');
    const inside = await here.run('echo x >b; sh -c "kill -9 \\$\\$"; exit $?');
    expect(inside).toMatchObject({ exitCode: 137, changes: { ...NOTHING, created: ['b'] } });
    expect(here.outside('ls')).toBe('b\n');
  });

  it('are dropped if it is stopped, unless the caller wants them kept', async () => {
    const stopInTheMiddle = (place: Pick<KeptApart, 'run'>, command: string): Promise<CommandOutcome> => {
      const stop = new AbortController();
      return place.run(`${command}; echo ready; sleep 30`, {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });
    };
    const stopped = await stopInTheMiddle(here, 'echo x >a');
    expect(stopped).toMatchObject({ aborted: true, discarded: 'it was stopped before its end' });
    expect(stopped.changes).toBeUndefined();
    expect(existsSync(join(here.root, 'a'))).toBe(false);
    const idle = await stopInTheMiddle(here, 'true');
    expect(idle).toMatchObject({ aborted: true, discarded: 'it was stopped before its end' });
    expect(idle.changes).toEqual(NOTHING);
    const keeping = makeKeptApart({ rules: { onTimeout: 'keep' } });
    const kept = await stopInTheMiddle(keeping, 'echo x >a');
    expect(kept.changes?.created).toEqual(['a']);
    expect(existsSync(join(keeping.root, 'a'))).toBe(true);
    keeping.remove();
  });

  it('are dropped if they are larger than allowed', { tags: ['soak'] }, async () => {
    const small = makeKeptApart({ rules: { maxMb: 3 } });
    const quick = await small.run('head -c 5000000 /dev/urandom >large');
    expect(quick.discarded).toBe('it has changed more than 3 MB');
    const slow = await small.run('while :; do head -c 1000000 /dev/urandom >>large; sleep 0.1; done');
    expect(slow).toMatchObject({ limit: { limit: 'transactionMb', max: 3 }, aborted: false });
    expect(small.outside('ls')).toBe('');
    small.remove();
  });

  it('can replace a directory that was removed and created again, and a file by a directory and back', {
    tags: ['soak'],
  }, async () => {
    here.outside('mkdir -p d/in e; echo 1 >d/one; echo 2 >d/in/two; echo f >f; echo k >e/keep');
    const { changes } = await here.run(
      'rm -rf d; mkdir d; echo 3 >d/three; rm f; mkdir f; echo x >f/x; rm -rf e; echo e >e',
    );
    expect(here.outside('find . -mindepth 1 | sort; cat d/three f/x e')).toBe(
      './d\n./d/three\n./e\n./f\n./f/x\n3\nx\ne\n',
    );
    expect(changes).toEqual({
      ...NOTHING,
      created: ['d/three', 'e', 'f/', 'f/x'],
      deleted: ['d/in/', 'd/in/two', 'd/one', 'e/', 'e/keep', 'f'],
    });
  });

  it('keep names that are not UTF-8, line feeds, links, holes, times, modes and empty directories', async () => {
    const { changes } = await here.run(
      `touch $'bad\\xff' $'two\\nlines' 'q"uote'; mkdir $'d\\xfe'; echo x >$'d\\xfe/in'; ln -s /nowhere away; ` +
        `truncate -s 50M sparse; touch -d 2001-02-03T04:05:06Z sparse; mkdir empty; chmod 750 empty; touch t; chmod 640 t`,
    );
    expect(changes?.created).toEqual([
      'away',
      'bad\\xff',
      'd\\xfe/',
      'd\\xfe/in',
      'empty/',
      'q"uote',
      'sparse',
      't',
      'two\\u{A}lines',
    ]);
    expect(here.outside('ls -1b; readlink away; stat -c "%a %n" empty t')).toBe(
      'away\nbad\\377\nd\\376\nempty\nq"uote\nsparse\nt\ntwo\\nlines\n/nowhere\n750 empty\n640 t\n',
    );
    const sparse = statSync(join(here.root, 'sparse'));
    expect([sparse.size, sparse.blocks < 100, sparse.mtime.toISOString()]).toEqual([
      50 * 1024 * 1024,
      true,
      '2001-02-03T04:05:06.000Z',
    ]);
    // And removed again.
    await here.run('rm -rf -- *');
    expect(here.outside('ls -A')).toBe('');
  });

  it('reach directories without write permission, and leave their modes unchanged', {
    tags: ['soak'],
  }, async () => {
    here.outside('mkdir -p shut/in; echo a >shut/a; echo b >shut/in/b; chmod 555 shut/in shut');
    const { changes } = await here.run(
      'mkdir -p new/in; echo x >new/in/x; chmod 555 new/in; chmod 0 new; chmod 755 shut; rm shut/a; echo y >shut/y; chmod 555 shut',
    );
    expect(changes).toEqual({
      ...NOTHING,
      created: ['new/', 'new/in/', 'new/in/x', 'shut/y'],
      deleted: ['shut/a'],
    });
    expect(
      here.outside('stat -c "%a %n" new shut; chmod 700 new; stat -c "%a %n" new/in; cat new/in/x; ls shut'),
    ).toBe('0 new\n555 shut\n555 new/in\nx\nin\ny\n');
    await expect.poll(() => readdirSync(here.place).filter((name) => name.includes('.gone'))).toEqual([]);
  });

  it('lose set-user-ID and set-group-ID bits, and contain no special files', async () => {
    here.outside('echo s >mine; chmod 4755 mine');
    const { changes } = await here.run(
      'cp /bin/true su; chmod 6755 su; mkfifo pipe; mkdir d; chmod 2755 d; echo x >>mine; chmod u+s mine',
    );
    expect(changes).toEqual({
      ...NOTHING,
      created: ['d/', 'su'],
      modified: ['mine'],
      refused: [
        { path: 'd/', reason: 'set-user-ID and set-group-ID are left out' },
        { path: 'mine', reason: 'set-user-ID and set-group-ID are left out' },
        { path: 'pipe', reason: 'it is neither a file, a directory nor a link' },
        { path: 'su', reason: 'set-user-ID and set-group-ID are left out' },
      ],
    });
    expect(here.outside('stat -c "%a %n" su d mine')).toBe('755 su\n755 d\n755 mine\n');
  });

  it('bug: new directories did not inherit set-group-ID', async () => {
    here.outside('mkdir shared; chmod 2775 shared; mkdir plain');
    const { changes } = await here.run(
      'umask 022; mkdir -p shared/a/b plain/a; touch shared/a/f; chmod g+s plain',
    );
    expect(changes?.refused).toEqual([
      { path: 'plain/', reason: 'set-user-ID and set-group-ID are left out' },
    ]);
    expect(here.outside('stat -c "%a %n" shared/a shared/a/b plain plain/a')).toBe(
      '2755 shared/a\n2755 shared/a/b\n755 plain\n755 plain/a\n',
    );
  });

  it('bug: a new directory in a root did not inherit its set-group-ID', async () => {
    here.outside('chmod g+s .');
    await here.run('umask 022; mkdir -p a/b; echo 1 >a/b/c');
    expect(here.outside('stat -c "%a" . a a/b')).toBe('2755\n2755\n2755\n');
  });

  it('are reported with the name of their root, relative to the first', async () => {
    const other = makeKeptApart();
    const both = [here.root, other.root];
    const confinement = {
      os: 'required',
      network: false,
      roots: both,
      readable: [],
      guarded: () => ({ hidden: [], readOnly: [], missing: [], incomplete: false }),
      transactions: {
        mode: 'required',
        places: [here.place],
        maxMb: 10,
        onTimeout: 'discard',
        refusal: () => undefined,
        ruleRefusal: () => undefined,
        isHidden: () => false,
      },
    } as const;
    const { changes } = await here.run(`echo a >a; echo b >${other.root}/b`, { confinement });
    expect(changes?.created).toEqual([`${other.root}/b`, 'a']);
    expect(other.outside('cat b')).toBe('b\n');
    other.remove();
  });

  it('do not list 10,000 files one by one', { tags: ['soak'] }, async () => {
    const { changes } = await here.run('mkdir d; cd d; for i in $(seq 1000); do echo $i >f$i; done');
    expect(changes?.created).toHaveLength(200);
    expect(changes?.more).toBe(801);
    expect(here.outside('ls d | wc -l')).toBe('1000\n');
  });
});

describe.skipIf(WHY_NOT !== '')(`a path hidden from commands${WHY_NOT}`, () => {
  it('does not exist for them, and stays unchanged', async () => {
    here.outside(
      'mkdir -p api .ssh; echo SECRET >api/.env; echo SECRET >.env; echo SECRET >.ssh/id; echo x >api/x; chmod 711 api',
    );
    const seen = await here.run('cat .env api/.env .ssh/id; ls -A . api; stat -c %a api');
    expect(seen.stdout.head + seen.stderr.head).not.toContain('SECRET');
    expect(seen.stdout.head).toBe('.:\napi\n\napi:\nx\n711\n');
    const outcome = await here.run(
      'mv api node_modules; cat node_modules/.env; echo after >.env; mkdir .ssh; echo key >.ssh/id; rm -rf node_modules; echo y >ok',
    );
    expect(outcome).toMatchObject({ discardedBy: 'rules', exitCode: 0 });
    expect(outcome.changes).toMatchObject({ created: [], modified: [], deleted: [] });
    expect(outcome.changes?.refused.map(({ path }) => path).sort()).toEqual(['.env', '.ssh/id', 'api/.env']);
    expect(outcome.changes?.refused[0]?.reason).toMatch(/deny pattern/);
    // None of its changes were kept.
    expect(here.outside('cat .env api/.env .ssh/id; ls -A . api')).toBe(
      'SECRET\nSECRET\nSECRET\n.:\n.env\n.ssh\napi\n\napi:\n.env\nx\n',
    );
  });

  it('stays hidden if it is saved by a rename while a command runs, and if it is new for the next command', async () => {
    here.outside('echo SECRET >.env; mkdir sub');
    const outcome = await here.run('echo ready; sleep 0.3; cat .env', {
      onOutput: () => {
        here.outside('echo SECRET2 >.tmp; mv .tmp .env');
      },
    });
    expect(outcome.stdout.head).toBe('ready\n');
    here.outside('echo SECRET3 >sub/.env');
    expect((await here.run('cat .env sub/.env')).stdout.head).toBe('');
    here.outside('rm -r sub .env; mkdir sub; echo x >sub/y');
    expect((await here.run('ls -A . sub')).stdout.head).toBe('.:\nsub\n\nsub:\ny\n');
    here.outside('rm -r sub');
    expect((await here.run('ls -A')).stdout.head).toBe('');
  });

  it("may be toolexec's own configuration or records, if a root is the home directory", async () => {
    here.outside('mkdir -p .config/toolexec .local/state/toolexec; echo a >.config/toolexec/config.toml');
    const { changes } = await here.run(
      'echo mine >.config/toolexec/config.toml; mv .config moved; echo x >.local/state/toolexec/journal.db; echo y >ok',
    );
    expect(changes?.refused.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['.local/state/toolexec/journal.db']),
    );
    expect(here.outside('cat .config/toolexec/config.toml; ls .local/state/toolexec; ls')).toBe('a\n');
  });

  it('may be one of thousands', { tags: ['soak'] }, async () => {
    here.outside(
      'for i in $(seq 60); do mkdir d$i; for j in $(seq 20); do echo SECRET >d$i/$j.pem; done; done',
    );
    const outcome = await here.run('cat */*.pem | head -1; find . -name "*.pem" | wc -l; ls | wc -l');
    expect(outcome.stdout.head).toBe('0\n60\n');
  });
});
