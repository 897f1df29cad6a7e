import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';

const why = await whyNoTransactions();
const here = useKeptApart();

describe.skipIf(why !== '')(`a file that a command writes outside the roots${why}`, () => {
  it('is listed, even in a directory or as a link, and is gone for the next command', async () => {
    const { discardedWrites, changes } = await here.run(
      'echo x >~/notes.txt; mkdir -p ~/a/b ~/empty; echo y >~/a/b/c; ln -s /etc ~/l; echo z >/tmp/t; echo in >root.txt',
    );
    expect(discardedWrites).toEqual({
      paths: ['/root/a/b/c', '/root/empty/', '/root/l', '/root/notes.txt', '/tmp/t'],
    });
    expect(changes?.created).toEqual(['root.txt']);
    const { stdout, discardedWrites: none } = await here.run('ls -A ~ /tmp');
    expect(stdout.head).not.toMatch(/notes|^t$/m);
    expect(none).toBeUndefined();
  });

  it('is not listed if the command removed it again, or if it is a cache, a socket or a pipe', async () => {
    const { exitCode, discardedWrites } = await here.run(`
      f=$(mktemp) && echo x >$f && rm $f && mkdir -p /tmp/w/x && rm -r /tmp/w
      mkdir -p ~/.cache/pip ~/.npm/_cacache ~/.cargo/registry ~/.config/configstore ~/p/__pycache__ /tmp/go-build12
      for d in ~/.cache/pip ~/.npm/_cacache ~/.cargo/registry ~/.config/configstore ~/p/__pycache__ /tmp/go-build12; do echo x >$d/f; done
      mkfifo ~/pipe`);
    expect(exitCode).toBe(0);
    expect(discardedWrites).toBeUndefined();
  });

  it('is listed with its whole name, and invisible characters in it as numbers', async () => {
    const { discardedWrites, changes } = await here.run(
      `for d in ~ .; do touch "$d/$(printf 'a\\xe2\\x80\\x8bb')" "$d/$(printf 'n\\xff')" "$d/$(printf 'l\\nf')" "$d/ü"; done`,
    );
    const names = ['a\\u{200B}b', 'l\\u{A}f', 'n\\xff', 'ü'];
    expect(discardedWrites?.paths).toEqual(names.map((name) => `/root/${name}`));
    expect(changes?.created).toEqual(names);
  });

  it('is one of at most 200 listed paths; the rest is counted', async () => {
    const { discardedWrites } = await here.run('mkdir ~/many; cd ~/many; seq 1000 | xargs touch');
    expect(discardedWrites?.paths).toHaveLength(200);
    expect(discardedWrites?.more).toBe(800);
  });

  it('is listed even if its directory is inaccessible, and no link is followed', async () => {
    const { discardedWrites } = await here.run(
      'mkdir ~/closed; echo x >~/closed/f; chmod 000 ~/closed; ln -s / ~/all; ln -s loop ~/loop; ln -s ~ ~/self',
    );
    expect(discardedWrites?.paths).toEqual(['/root/all', '/root/closed/f', '/root/loop', '/root/self']);
  });

  it('is listed if it changes the git settings that the command was given', async () => {
    expect((await here.run('git config --get user.name; true')).discardedWrites).toBeUndefined();
    const { discardedWrites } = await here.run('git config --global toolexec.test yes');
    expect(discardedWrites?.paths).toEqual(['/root/.gitconfig']);
  });

  it('is listed if the command writes through, ended at its size limit, and nothing of it stays on the disk', {
    tags: ['soak'],
  }, async () => {
    const through = makeKeptApart({ rules: { mode: 'auto' } });
    onTestFinished(() => through.remove());
    const { discardedWrites, changes } = await through.run('echo x >~/notes; echo y >here', {
      writesThrough: true,
    });
    expect(changes).toBeUndefined();
    expect(discardedWrites?.paths).toEqual(['/root/notes']);
    const large = await through.run('head -c 300M /dev/zero >/tmp/large; sleep 20', { writesThrough: true });
    expect(large).toMatchObject({ limit: { limit: 'transactionMb', max: 200 }, aborted: false });
    await expect
      .poll(() => readdirSync(through.place).filter((name) => name.startsWith('outside')))
      .toEqual([]);
  });

  it('counts against max_transaction_mb: the command is ended, and nothing is kept', async () => {
    const outcome = await here.run('echo x >kept; head -c 300M /dev/zero >/tmp/large; sleep 20');
    expect(outcome).toMatchObject({ limit: { limit: 'transactionMb', max: 200 }, aborted: false });
    expect(outcome.discarded).toBe('it has changed more than 200 MB');
    expect(existsSync(`${here.root}/kept`)).toBe(false);
  });

  it('leaves nothing beside the journal', async () => {
    await here.run('echo x >~/notes; echo y >new');
    const left = (): readonly string[] =>
      readdirSync(here.place, { recursive: true, encoding: 'utf8' }).filter((path) => /outside/.test(path));
    await expect.poll(left).toEqual([]);
  });

  it('cannot be created in a read-only directory, and then is not listed', async () => {
    const { stderr, discardedWrites } = await here.run(
      'for d in /etc /usr /etc/ssl/private / /opt /var/tmp; do echo x >$d/toolexec-x; done',
    );
    expect(stderr.head.split('\n').filter((line) => /Read-only|No such file/.test(line))).toHaveLength(6);
    expect(discardedWrites).toBeUndefined();
  });
});
