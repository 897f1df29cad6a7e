import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { message, type Ran, useToolexec } from './toolexec.js';

const WHY_NOT = await whyNoTransactions();
const toolexec = useToolexec();
const is = (name: string): boolean => existsSync(join(toolexec.root, name));
const write = (path: string, content = 'x'): readonly [string, object] => ['write_file', { path, content }];

/** Writes `x` into each given file: no text of the command names them as files. */
beforeEach(() => {
  toolexec.write('root/w.py', "import sys\nfor p in sys.argv[1:]: open(p, 'w').write('x')\n");
});
const python = (...paths: readonly string[]): readonly [string, object] => [
  'bash',
  { command: `python3 w.py ${paths.join(' ')}` },
];

async function run(
  calls: readonly (readonly [string, object])[],
  ...options: readonly string[]
): Promise<Ran> {
  return toolexec.run(['run', toolexec.json('r.json', message(...calls)), ...options]);
}

describe('a file that runs later by itself', () => {
  it('is approved with --approve-later-code, but not with --yes, which reports that and approves the rest', async () => {
    const calls = [write('a.txt'), write('Jenkinsfile'), write('sub/Makefile')];
    const refused = await run(calls, '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      'User denied permission to run write_file: --yes does not approve changes to files that run later by themselves: "Jenkinsfile". Add --approve-later-code',
    );
    expect([is('a.txt'), is('Jenkinsfile'), is('sub')]).toEqual([true, false, false]);
    const agreed = await run(calls, '--yes', '--approve-later-code', '--conversation', 'again', '--again');
    expect([is('Jenkinsfile'), is('sub/Makefile')]).toEqual([true, true]);
    // a.txt exists already.
    expect(agreed.stderr.match(/user_denied/)).toBeNull();
    const { stdout } = await toolexec.run(['journal', 'export']);
    expect(stdout).toContain('"by":"--yes --approve-later-code"');
  });

  it('is not approved by --approve', async () => {
    const calls = [write('a.txt'), write('Makefile')];
    const refused = await run(calls, '--approve', 'toolu_1', 'toolu_2');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      '--approve does not approve changes to files that run later by themselves: "Makefile"',
    );
    expect([is('a.txt'), is('Makefile')]).toEqual([true, false]);
    const others = ['--approve', 'toolu_2', '--approve-later-code', '--conversation', 'b'];
    expect((await run([write('b.txt'), write('Makefile')], ...others)).code).toBe(1);
    expect([is('b.txt'), is('Makefile')]).toEqual([false, true]);
  });

  it('is compared by parts if only a part of it runs', async () => {
    toolexec.write('root/package.json', '{"name":"a"}');
    const edit = (new_string: string): readonly [string, object] => [
      'edit_file',
      { path: 'package.json', old_string: '"name":"a"', new_string },
    ];
    const read: readonly [string, object] = ['read_file', { path: 'package.json' }];
    const refused = await run([read, edit('"scripts":{"test":"evil"}')], '--yes', '--conversation', 'a');
    expect(refused.stderr).toContain('"package.json"');
    const agreed = await run([read, edit('"name":"b"')], '--yes', '--conversation', 'b');
    expect(agreed.code).toBe(0);
    expect(readFileSync(join(toolexec.root, 'package.json'), 'utf8')).toBe('{"name":"b"}');
  });

  it('can be named in the configuration', async () => {
    const config = toolexec.write('c.toml', '[tools.approval]\nlater_code = ["run.sh"]\n');
    const calls = [write('Makefile'), write('run.sh')];
    expect((await run(calls, '--yes', '--config', config)).code).toBe(1);
    expect([is('Makefile'), is('run.sh')]).toEqual([true, false]);
  });

  it('cannot be approved for a single call on the command line', async () => {
    const call = ['call', 'write_file', '{"path":"justfile","content":"x"}'];
    const refused = await toolexec.run([...call, '--yes']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('"justfile"') });
    expect(is('justfile')).toBe(false);
    expect((await toolexec.run([...call, '--yes', '--approve-later-code'])).code).toBe(0);
    expect(is('justfile')).toBe(true);
  });

  it('leaves a deferred batch waiting, and says why', async () => {
    const calls = [write('Makefile')];
    await run(calls, '--defer', '--conversation', 'later');
    const open = await toolexec.run(['approve', 'later', '--yes']);
    expect(open).toMatchObject({ code: 4, stderr: expect.stringContaining('"Makefile"') });
    expect(open.stderr).toContain('Add --approve-later-code if that is intended.');
    expect(is('Makefile')).toBe(false);
    expect((await toolexec.run(['approve', 'later', '--yes', '--approve-later-code'])).code).toBe(0);
    expect(is('Makefile')).toBe(true);
  });

  it('requires an option that approves', async () => {
    const [tool, args] = write('a');
    const call = ['call', tool, JSON.stringify(args)];
    expect(await toolexec.run([...call, '--approve-later-code'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'toolexec: Cannot use --approve-later-code by itself: it widens --yes and --approve.\n',
    });
    expect((await toolexec.run([...call, '--approve-later-code', '--deny'])).code).toBe(2);
  });
});

describe.skipIf(WHY_NOT !== '')(`what a command has changed${WHY_NOT}`, () => {
  it('beyond its permission is approved with --approve-later-code, but not with --yes', async () => {
    const refused = await run([python('a', 'Makefile')], '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(
      '--yes does not approve changes beyond the declared and allowed ones: "Makefile". Add --approve-later-code',
    );
    expect([is('a'), is('Makefile')]).toEqual([false, false]);
    const agreed = await run(
      [python('a', 'Makefile')],
      '--yes',
      '--approve-later-code',
      '--conversation',
      'b',
    );
    expect([agreed.code, is('a'), is('Makefile')]).toEqual([0, true, true]);
    const { stdout } = await toolexec.run(['journal', 'show', 'toolu_1', '--json']);
    expect(stdout).toContain('--yes --approve-later-code');
  });

  it('is not approved by --approve, nor if a preview is committed', async () => {
    const refused = await run([python('justfile')], '--approve', 'toolu_1');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('"justfile"') });
    const preview = ['--preview', '--yes', '--conversation', 'p'];
    const unmade = await run([python('b'), python('justfile')], ...preview);
    expect(unmade).toMatchObject({ code: 1, stderr: expect.stringContaining('--approve-later-code') });
    expect(unmade.stderr).toContain('nothing was committed');
    expect([is('b'), is('justfile')]).toEqual([false, false]);
    const made = await run(
      [python('justfile')],
      '--preview',
      '--yes',
      '--approve-later-code',
      '--conversation',
      'q',
    );
    expect([made.code, is('justfile')]).toEqual([0, true]);
  });

  it('of what a rule allows is committed with a preview', async () => {
    const rule =
      '[[tools.approval.rules]]\ndecision = "allow"\ncommand = "python3 *"\nwrites = ["Makefile"]\n';
    const config = toolexec.write('c.toml', rule);
    expect((await run([python('Makefile')], '--preview', '--yes', '--config', config)).code).toBe(0);
    expect(is('Makefile')).toBe(true);
    const beyond = await run([python('b')], '--yes', '--config', config, '--conversation', 'b');
    expect(beyond).toMatchObject({ code: 1, stderr: expect.stringContaining('allowed ones: "b".') });
    expect(is('b')).toBe(false);
  });

  it('that asks when it has ended is approved in advance, except for files that run later', async () => {
    const config = toolexec.write(
      'c.toml',
      '[tools.bash]\napproval = "after"\n[tools.run_command]\nsandbox = "required"\nnetwork = false\n',
    );
    const after = async (name: string) =>
      (await run([python(name)], '--yes', '--config', config, '--conversation', name)).code;
    expect([await after('c'), await after('Makefile')]).toEqual([0, 1]);
    expect([is('c'), is('Makefile')]).toEqual([true, false]);
  });
});
