import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KeptApart, makeKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const hasPerl = process.arch === 'x64' && spawnSync('perl', ['-v']).status === 0;

let here: KeptApart;
beforeEach(() => {
  here = makeKeptApart();
});
afterEach(() => here.remove());

/** Prints the names of a file's extended attributes. */
const LIST = `perl -e 'for (@ARGV) { my $b = "\\0" x 4096; my $n = syscall(194, $_, $b, 4096); print "$_:", join(",", sort split /\\0/, substr($b, 0, $n < 0 ? 0 : $n)), "\\n" }'`;
const SET = `perl -e 'my $f = shift; for (@ARGV) { syscall(188, $f, $_, "y", 1, 0) == 0 or print "no $_\\n" }'`;

describe.skipIf(WHY_NOT !== '')(`a hostile command${WHY_NOT}`, () => {
  it.skipIf(!hasPerl)('leaves no mark of an overlay on what it has changed', async () => {
    here.outside('echo a >changed; echo b >moved; echo c >linked; echo d >closed; chmod 444 closed');
    const command = `echo x >>changed; mv moved away; ln linked other; chmod 440 closed; echo n >new
      for f in new changed; do ${SET} $f user.overlay.opaque user.overlay.whiteout user.mine; done; ${LIST} new`;
    const { stdout } = await here.run(command);
    // Where the file system has none of them, this shows nothing.
    const kept = stdout.head.includes('user.mine') ? 'user.mine' : '';
    expect(here.outside(`${LIST} changed away linked other closed new; stat -c %a closed`)).toBe(
      `changed:${kept}\naway:\nlinked:\nother:\nclosed:\nnew:${kept}\n440\n`,
    );
  });
});
