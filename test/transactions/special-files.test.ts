import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const why = await whyNoTransactions();
const here = useKeptApart();

describe.skipIf(why !== '')(`pipes, sockets and links in a root${why}`, () => {
  it('that the host has there, where commands change and remove things beside them, hang nothing', async () => {
    here.outside('mkfifo p .git .env; mkdir d; mkfifo d/p; ln -s p l');
    const { changes, discarded } = await here.run('echo x >a; rm -r d; mkdir e');
    expect(discarded).toBeUndefined();
    expect(changes).toMatchObject({ created: ['a', 'e/'], deleted: ['d/', 'd/p'], refused: [] });
  });

  it('that a command makes are left out, and refused with a reason', async () => {
    const { changes } = await here.run('mkfifo p; echo x >a; mkdir d; mkfifo d/p');
    expect(changes?.created).toEqual(['a', 'd/']);
    expect(changes?.refused).toEqual([
      { path: 'd/p', reason: 'it is neither a file, a directory nor a link' },
      { path: 'p', reason: 'it is neither a file, a directory nor a link' },
    ]);
  });

  it('a link in the place of the directory of a hidden file is told, and nothing is kept', async () => {
    mkdirSync(`${here.root}/conf`);
    writeFileSync(`${here.root}/conf/.env`, 'S=1');
    const { changes, discardedBy } = await here.run('rm -rf conf; ln -s /etc conf; echo x >a');
    expect(discardedBy).toBe('rules');
    expect(changes?.refused.map(({ path }) => path)).toEqual(['conf/.env', 'conf']);
    expect(here.outside('cat conf/.env; ls -A')).toBe('S=1conf\n');
  });

  it('is committed and listed where a command changes the mode of a root, and can be seen by the host', async () => {
    const before = statSync(here.root).mode & 0o777;
    const { changes, discarded } = await here.run('chmod 711 .; echo x >x');
    expect(discarded).toBeUndefined();
    expect([changes?.modified, changes?.created]).toEqual([['./'], ['x']]);
    expect(before).not.toBe(0o711);
    expect(statSync(here.root).mode & 0o777).toBe(0o711);
  });
});
