import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useToolexec } from '../cli/toolexec.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const toolexec = useToolexec({ ownProcess: true });
const trials = (): string => join(toolexec.state, 'toolexec', 'sandbox-trials.json');

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const canLimit =
  spawnSync('unshare', ['-Ur', 'sh', '-c', 'echo 9 >/proc/sys/user/max_user_namespaces']).status === 0;

/** The names of the programs that `toolexec try --discard -- true` starts, in order. */
function programsOfTry(): readonly string[] {
  const trace = join(toolexec.folder, 'trace');
  const command = [process.execPath, toolexec.main, 'try', '--discard', '--', 'true'];
  const { status, stderr } = spawnSync(
    'strace',
    ['-f', '-qq', '--seccomp-bpf', '-e', 'trace=execve', '-o', trace, ...command],
    {
      cwd: toolexec.root,
      env: toolexec.environment(),
      encoding: 'utf8',
    },
  );
  expect(status, stderr).toBe(0);
  const lines = readFileSync(trace, 'utf8').matchAll(/execve\("([^"]+)".* = 0$/gm);
  return [...lines].map(([, file = '']) => basename(file));
}

describe.skipIf(WHY_NOT !== '')(`trials of the sandbox${WHY_NOT}`, () => {
  it.skipIf(!canTrace)('run once: a later process only starts the sandbox of its command', () => {
    const first = programsOfTry();
    expect(first).toContain('umount');
    const [node, supervisor, ...sandbox] = programsOfTry();
    expect([node, supervisor]).toEqual(['node', 'sh']);
    expect(sandbox).toEqual(['unshare', 'sh', 'mount', 'bwrap', 'sh', 'bash']);
  });

  it.skipIf(!canLimit)(
    'let no command run uncontained if they are remembered wrongly, and are then forgotten',
    () => {
      const script = `
      echo 100 >/proc/sys/user/max_user_namespaces
      "$@" 'echo x >first' || exit 10
      echo 0 >/proc/sys/user/max_user_namespaces
      sed -i 's/max_user_namespaces 100/max_user_namespaces 0/' "$TRIALS" || exit 11
      grep -q 'max_user_namespaces 0' "$TRIALS" || exit 12
      "$@" 'echo x >second'; echo "second $?"
      "$@" 'echo x >third'; echo "third $?"`;
      const command = [process.execPath, toolexec.main, 'try', '--keep', '--'];
      const { status, stdout, stderr } = spawnSync('unshare', ['-Ur', 'sh', '-c', script, 'sh', ...command], {
        cwd: toolexec.root,
        env: toolexec.environment({ TRIALS: trials() }),
        encoding: 'utf8',
      });
      expect(status, stderr).toBe(0);
      expect(stdout).toBe('second 2\nthird 2\n');
      expect(stderr).toMatch(/Cannot try this here: it says nothing\. Nothing was run/);
      expect(stderr).toMatch(/bwrap cannot isolate here: .* Nothing was run/);
      expect(['first', 'second', 'third'].map((name) => existsSync(join(toolexec.root, name)))).toEqual([
        ...[true, false, false],
      ]);
      expect(existsSync(trials())).toBe(false);
    },
  );

  it('are all run by doctor, which trusts no remembered one', { tags: ['soak'] }, async () => {
    expect((await toolexec.run(['try', '--discard', '--', 'true'])).code).toBe(0);
    const before = readFileSync(trials(), 'utf8');
    const { stdout } = await toolexec.run(['doctor']);
    expect(stdout).toMatch(/isolates commands/);
    expect(readFileSync(trials(), 'utf8')).toBe(before);
  });
});
