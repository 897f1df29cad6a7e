import { spawnSync } from 'node:child_process';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const hasPerl = process.arch === 'x64' && spawnSync('perl', ['-v']).status === 0;

const here = useKeptApart();

/** Prints the names of a file's extended attributes. */
const LIST = `perl -e 'for (@ARGV) { my $b = "\\0" x 4096; my $n = syscall(194, $_, $b, 4096); print "$_:", join(",", sort split /\\0/, substr($b, 0, $n < 0 ? 0 : $n)), "\\n" }'`;
const SET = `perl -e 'my $f = shift; for (@ARGV) { syscall(188, $f, $_, "y", 1, 0) == 0 or print "no $_\\n" }'`;

describe.skipIf(WHY_NOT !== '')(`a hostile command${WHY_NOT}`, () => {
  it.skipIf(!hasPerl)('leaves no overlay attributes on the files that it has changed', async () => {
    here.outside('echo a >changed; echo b >moved; echo c >linked; echo d >closed; chmod 444 closed');
    const command = `echo x >>changed; mv moved away; ln linked other; chmod 440 closed; echo n >new
      for f in new changed; do ${SET} $f user.overlay.opaque user.overlay.whiteout user.mine; done; ${LIST} new`;
    const { stdout } = await here.run(command);
    // If the file system supports none of them, this shows nothing.
    const kept = stdout.head.includes('user.mine') ? 'user.mine' : '';
    expect(here.outside(`${LIST} changed away linked other closed new; stat -c %a closed`)).toBe(
      `changed:${kept}\naway:\nlinked:\nother:\nclosed:\nnew:${kept}\n440\n`,
    );
  });

  it.skipIf(!hasPerl)(
    'creates no path that is too long: none of its changes are kept, and nothing remains',
    async () => {
      const deep = `my $n = "d" x 200; for (1 .. 50) { mkdir $n; chdir $n } open F, ">f"; chmod 0, "../$n"`;
      const { discarded, changes } = await here.run(`perl -e '${deep}'; echo fine >fine`);
      expect([discarded, changes]).toEqual(['it has created a path that is too long', undefined]);
      expect(here.outside('ls')).toBe('');
      await expect
        .poll(() => readdirSync(here.place).filter((name) => name.startsWith('transaction-')), {
          timeout: 5000,
        })
        .toEqual([]);
    },
  );

  it('cannot evade the size limit: inaccessible directories count, and so do holes that would be filled', async () => {
    const small = makeKeptApart({ rules: { maxMb: 3 } });
    const closed = await small.run('mkdir d; head -c 5000000 /dev/urandom >d/large; chmod 000 d');
    expect(closed.discarded).toBe('it has changed more than 3 MB');
    expect((await small.run('truncate -s 1T holes')).changes?.created).toEqual(['holes']);
    small.remove();
  });

  it('changes nothing if its root is moved while it runs, neither there nor in a directory that takes its name', async () => {
    here.outside('echo old >a; mkdir sub; echo b >sub/b');
    const moved = join(here.around, 'moved');
    const { discarded, changes } = await here.run(
      'echo new >a; rm -r sub; echo n >n; echo ready; sleep 0.3',
      {
        onOutput() {
          renameSync(here.root, moved);
          here.outside(`cp -a '${moved}' '${here.root}'`, here.around);
        },
      },
    );
    expect(discarded).toContain('was moved, or something else was put there');
    expect(changes).toBeUndefined();
    for (const place of [moved, here.root])
      expect(here.outside('cat a sub/b; ls', place)).toBe('old\nb\na\nsub\n');
  });
});
