import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';
import { placesHere } from './plan-maker.js';

/** Sets, prints or removes attributes; `user.*` and access control lists. */
const SET = `perl -e 'my ($f, $n, $v) = @ARGV; syscall(188, $f, $n, $v, length $v, 0) == 0 or die "no: $!\\n"'`;
const REMOVE = `perl -e 'my ($f, $n) = @ARGV; syscall(197, $f, $n) == 0 or die "no: $!\\n"'`;
const LIST = `perl -e 'for (@ARGV) { my $b = "\\0" x 4096; my $n = syscall(194, $_, $b, 4096); print "$_:", join(",", sort split /\\0/, substr($b, 0, $n < 0 ? 0 : $n)), "\\n" }'`;
/** Read access for the user 12345. */
const SHARE = `perl -e 'my $v = pack("V(vvV)*", 2, 1, 6, -1, 2, 4, 12345, 4, 4, -1, 16, 4, -1, 32, 4, -1); my ($f, $n) = (@ARGV, "system.posix_acl_access"); syscall(188, $f, $n, $v, length $v, 0) == 0 or die "no: $!\\n"'`;

const WHY_NOT = (await whyNoTransactions()) || whyNoAttributes(tmpdir());
const here = useKeptApart();

describe.skipIf(WHY_NOT !== '')(`extended attributes${WHY_NOT}`, () => {
  it('bug: a command that changed only the attribute of a file changed nothing, and no result said so', async () => {
    here.outside(`echo 1 >f; mkdir d; echo 2 >d/g; chmod 444 d/g; ${SET} d/g user.old 1`);
    const { changes } = await here.run(
      `${SET} f user.mine 1; chmod 644 d/g; ${REMOVE} d/g user.old; chmod 444 d/g`,
    );
    expect(changes).toMatchObject({ modified: ['d/g', 'f'], created: [], refused: [], conflicts: [] });
    expect(here.outside(`${LIST} f d/g; cat f d/g`)).toBe('f:user.mine\nd/g:\n1\n2\n');
  });

  it('of a directory are left out, and the result says so', async () => {
    here.outside(`mkdir -p d/e; ${SET} d/e user.old 1; echo 1 >d/f`);
    const { changes, discarded } = await here.run(`${SET} d/e user.mine 1; echo 2 >d/f`);
    expect(discarded).toBeUndefined();
    expect(changes).toMatchObject({ modified: ['d/f'], refused: [{ path: 'd/e/' }] });
    expect(changes?.refused[0]?.reason).toBe(
      'changes of the extended attributes of a directory are left out',
    );
    expect(here.outside(`${LIST} d/e`)).toBe('d/e:user.old\n');
  });

  it('do not make a file changed that was only opened, nor a directory with a changed file in it', async () => {
    here.outside(
      `mkdir d; echo 1 >d/f; ${SET} d user.old 1; ${SET} d/f user.old 1; ${SHARE} d/f; echo key >d/.env`,
    );
    const { changes } = await here.run('exec 3<>d/f; echo 2 >d/g; chmod 600 d/g');
    expect(changes).toMatchObject({ created: ['d/g'], modified: [], refused: [] });
  });

  it.each(placesHere())('stay on a changed file and come back with an undo, on %s', async (places) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'attributes-')));
    const far = mkdtempSync(join(places === 'one file system' ? tmpdir() : '/dev/shm', 'attributes-é'));
    onTestFinished(() => [root, far].forEach(removeTree));
    mkdirSync(join(root, 'r'));
    const outside = (command: string): string =>
      execFileSync('/bin/sh', ['-c', command], { cwd: join(root, 'r'), encoding: 'utf8' });
    outside(`for f in a b c; do echo 1 >$f; ${SET} $f user.old 1; ${SHARE} $f; done`);
    await using executor = createExecutor({
      ...{ root: join(root, 'r'), journal: join(far, 'journal.db'), approver: null, policy: null },
      sandbox: { os: 'required', transactions: 'required' },
    });
    const command = `echo 2 >>a; rm b; ${SET} c user.mine 1`;
    const [result] = await executor.run([{ id: 'c', name: 'bash', args: { command } }]);
    expect(result?.metadata).toMatchObject({
      changes: { modified: ['a', 'c'], deleted: ['b'], refused: [] },
    });
    const old = 'system.posix_acl_access,user.old';
    expect(outside(`${LIST} a c`)).toBe(`a:${old}\nc:system.posix_acl_access,user.mine,user.old\n`);
    await executor.undo('c');
    expect(outside(`${LIST} a b c; cat a`)).toBe(`a:${old}\nb:${old}\nc:${old}\n1\n`);
  });
});

function whyNoAttributes(directory: string): string {
  if (process.arch !== 'x64') return ' (skipped: the numbers of the system calls are those of x64)';
  const file = join(mkdtempSync(join(directory, 'attributes-')), 'f');
  onExit(file);
  const tried = spawnSync('/bin/sh', ['-c', `echo >${file}; ${SET} ${file} user.x 1 && ${SHARE} ${file}`]);
  return tried.status === 0 ? '' : ` (skipped: ${tried.stderr})`;
}

function onExit(file: string): void {
  process.once('exit', () => removeTree(join(file, '..')));
}
