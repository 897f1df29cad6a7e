import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../src/contract/approval.js';
import type { ToolResult } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import type { PolicyRule } from '../../src/policy/rules/policy-rule.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
const { outside } = place;
let asked: ApprovalRequest[];
let decision: ApprovalDecision;
beforeEach(() => {
  asked = [];
  decision = { kind: 'approve_all' };
  writeFileSync(
    join(place.root, '.w.py'),
    "import os, sys\nfor p in sys.argv[1:]:\n  os.makedirs(os.path.dirname('./' + p), exist_ok=True)\n  open(p, 'w').write('x')\n",
  );
});

const approver = async (requests: readonly ApprovalRequest[]): Promise<ApprovalDecision> => {
  asked.push(...requests);
  return decision;
};

function open(rules: readonly PolicyRule[], more: ExecutorOptions = {}): Executor {
  return createExecutor({
    root: place.root,
    tools: builtinTools(),
    journal: false,
    policy: { denylist: [], rules },
    sandbox: { os: 'required' },
    ...more,
  });
}

let count = 0;
async function run(executor: Executor, command: string): Promise<ToolResult> {
  const [result] = await executor.run([{ id: `c${count++}`, name: 'bash', args: { command } }]);
  if (result === undefined) throw new Error('a call has one answer');
  return result;
}

/** Runs under these rules without a person to ask. */
async function runAlone(command: string, ...rules: readonly PolicyRule[]): Promise<ToolResult> {
  await using executor = open(rules);
  return await run(executor, command);
}

/** Regardless of what has allowed it. */
async function runAllowed(command: string): Promise<ToolResult> {
  await using executor = open([], { policy: () => ({ disposition: 'execute_now', reason: 'allowed' }) });
  return await run(executor, command);
}

const EVERYTHING: PolicyRule = { decision: 'allow', command: '**' };

describe.skipIf(WHY_NOT !== '')(`what a command has changed${WHY_NOT}`, () => {
  eachOf<[string, string]>(
    [
      ['tar xf t.tar --index-file=package.json', `printf '{"scripts":{"test":"evil"}}' > package.json`],
      ['a Makefile', 'echo x > Makefile'],
      ['a Makefile below', 'mkdir -p a/b && echo x > a/b/makefile'],
      ['a file that is moved there', 'echo x > y; mv y conftest.py'],
      ['a copy of it', 'echo x > y; cp y .pre-commit-config.yaml'],
      ['a hard link to it', 'echo x > y; ln y Makefile'],
      ['a link', 'echo x > y; ln -s y justfile'],
      ['a directory that is moved there', 'mkdir -p d/workflows; echo x > d/workflows/ci.yml; mv d .github'],
      [
        'a link in the place of a directory',
        'mkdir -p d/workflows; echo x > d/workflows/ci.yml; ln -s d .github',
      ],
      ['another case', 'echo x > MAKEFILE'],
      ['its mode', 'true; chmod +x old.mk'],
      ['its end', 'rm old.mk'],
      ['a program that hides it', 'python3 .w.py Makefile'],
      [
        'a link to a package of another directory',
        `mkdir e; echo '{"scripts":{"a":"b"}}' > e/p; ln -s e/p package.json`,
      ],
    ],
    1,
  )('is not kept if it runs later and was not asked about: %s', async (_, command) => {
    writeFileSync(join(place.root, 'old.mk'), 'all:\n');
    const before = outside('ls -AlR --time-style=+');
    const result = await runAllowed(command);
    expect(result).toMatchObject({
      success: false,
      error: { code: 'policy_denied', details: { executed: 'no' } },
    });
    expect(result.output).toContain('The changes of this command were not kept');
    expect(result.metadata.changes).toMatchObject({
      unexpected: expect.arrayContaining([expect.any(String)]),
    });
    expect(outside('ls -AlR --time-style=+')).toBe(before);
  });

  eachOf<[string, string, string]>(
    [
      ['a directory', 'ln -s tools/run .husky', 'tools/run/pre-commit'],
      ['a directory of another', 'mkdir .github; ln -s ../tools/run .github/workflows', 'tools/run/ci.yml'],
      ['a file', 'ln -s tools/run/all.txt Makefile', 'tools/run/all.txt'],
      ['a link of git', 'git init -q; rm -r .git/hooks; ln -s ../tools/run .git/hooks', 'tools/run/pre-push'],
      ['a setting of git', 'git init -q; git config core.hooksPath tools/run', 'tools/run/pre-push'],
      ['a directory below', 'ln -s ../../tools/run p/q/.vscode', 'tools/run/x.json'],
      ['a link of another', 'ln -s hk .husky; ln -s tools/run hk', 'hk'],
      ['a link to nothing', 'ln -s tools/new .husky', 'tools/new'],
      ['a settings file', 'git init -q; git config include.path ../tools/run/all.txt', 'tools/run/all.txt'],
      ['a program of git', 'git init -q; git config core.fsmonitor ./tools/run/all.txt', 'tools/run/all.txt'],
      ['a dependency', 'mkdir -p node_modules/e; ln -s node_modules/e sub', 'node_modules/e/Makefile'],
    ],
    2,
  )('is not kept if it runs later through a link or setting: %s', async (_, make, path) => {
    outside(`mkdir -p tools/run src p/q; echo x > tools/run/all.txt; ${make}`);
    const refused = await runAllowed(`rm -f ${path}; echo x > ${path}`);
    expect(refused.error).toMatchObject({ code: 'policy_denied', details: { executed: 'no' } });
    expect(refused.metadata.changes).toMatchObject({ unexpected: [path] });
    expect((await runAllowed('echo x > src/a; echo x > tools/a')).error).toBeUndefined();
  });

  eachOf<[string, string]>(
    [
      ['a directory in its place', 'rm -f Makefile; mkdir Makefile'],
      [
        'a link into dependencies',
        'mkdir -p node_modules/e; echo x > node_modules/e/Makefile; ln -s node_modules/e sub',
      ],
      ['a repository of another name', 'git init -q --bare b; git -C b config core.fsmonitor ./x'],
      ['a hook of such a repository', 'git init -q --bare b; echo x > b/hooks/post-update'],
      ['a link above its directory', 'rmdir tools/hooks tools; ln -s other tools'],
      ['a step of a rebase', 'mkdir .git/rebase-merge; echo "exec x" > .git/rebase-merge/git-rebase-todo'],
    ],
    2,
  )('is not kept if git or a link makes it run later: %s', async (_, command) => {
    outside('git init -q; echo x > Makefile; mkdir -p tools/hooks other/hooks; ln -s tools/hooks .husky');
    expect((await runAllowed(command)).error).toMatchObject({
      code: expect.stringMatching(/policy_denied|sandbox_violation/),
      details: { executed: 'no' },
    });
    expect((await runAllowed('git init -q --bare c; ln -s other o')).error).toBeUndefined();
  });

  eachOf<[string, string, string]>(
    [
      [
        'settings',
        'mkdir b; printf "[core]\\n\\tfsmonitor = ./x\\n" > b/config',
        'git init -q c; cp -r c/.git/HEAD c/.git/objects c/.git/refs b',
      ],
      [
        'its last directory',
        'mkdir -p b/hooks b/objects; echo x > b/hooks/update; touch b/HEAD',
        'mkdir b/refs',
      ],
      ['those of another directory', 'mkdir b; echo ../c > b/commondir', 'touch b/HEAD'],
    ],
    2,
  )('is not kept if it turns earlier files into those of a repository: %s', async (_, before, command) => {
    expect((await runAllowed(before)).error).toBeUndefined();
    expect((await runAllowed(command)).error).toMatchObject({
      code: 'policy_denied',
      details: { executed: 'no' },
    });
  });

  it('is kept if it is any other file, or only changes dependencies', {
    tags: ['soak'],
  }, async () => {
    writeFileSync(join(place.root, 'package.json'), '{"scripts":{"test":"a"}}');
    const command = `
      printf '{"dependencies":{"x":"1"},"scripts":{"test":"a"}}' > package.json
      mkdir -p node_modules/x src; echo x > node_modules/x/Makefile; printf '{"scripts":{"a":"b"}}' > node_modules/x/package.json
      echo y > src/a.ts`;
    const result = await runAllowed(command);
    expect(result.error).toBeUndefined();
    expect(outside('cat src/a.ts node_modules/x/Makefile; cat package.json')).toBe(
      'y\nx\n{"dependencies":{"x":"1"},"scripts":{"test":"a"}}',
    );
  });

  it('is asked about once if packages are installed, by the default policy', {
    tags: ['soak'],
  }, async () => {
    await using executor = createExecutor({ root: place.root, approver, sandbox: { os: 'required' } });
    const installed = ['node_modules/x/package.json', '.venv/lib/x/makefile.py', 'node_modules/x/.npmrc'];
    const result = await run(executor, `python3 .w.py ${installed.join(' ')}`);
    expect(result).toMatchObject({ success: true });
    expect(result.metadata.changes).not.toHaveProperty('unexpected');
    expect(asked).toHaveLength(1);
    await using own = createExecutor({
      ...{ root: place.root, approver, sandbox: { os: 'required' } },
      policy: { laterCode: ['package.json'] },
    });
    await run(own, 'echo 2 > node_modules/x/package.json; python3 .w.py node_modules/y/package.json');
    expect(asked.slice(1).map(({ unexpected }) => unexpected)).toEqual([
      undefined,
      ['node_modules/y/package.json'],
    ]);
  });

  it('is asked about with the changes shown, files that run later first', async () => {
    await using executor = open([EVERYTHING], { approver });
    const result = await run(executor, 'python3 .w.py Makefile a');
    expect(result).toMatchObject({
      success: true,
      metadata: { changes: { created: ['Makefile', 'a'], unexpected: ['Makefile'] } },
    });
    expect(asked).toMatchObject([
      {
        unexpected: ['Makefile'],
        changes: { created: ['Makefile', 'a'], unexpected: ['Makefile'] },
        reason: expect.stringContaining('"Makefile"'),
        parts: [
          { kind: 'command' },
          { kind: 'changes', entries: [{ path: 'Makefile', unexpected: 'runs_later' }, { path: 'a' }] },
          { kind: 'file', path: 'Makefile', text: 'x' },
          { kind: 'file', path: 'a', text: 'x' },
        ],
      },
    ]);
    decision = { kind: 'deny_all', reason: 'not that' };
    const refused = await run(executor, 'python3 .w.py justfile');
    expect(refused.error).toMatchObject({ code: 'user_denied', details: { executed: 'no' } });
    expect(outside('ls')).toBe('Makefile\na\n');
  });

  it('is kept if a person approved a command that names it, and asked about otherwise', {
    tags: ['soak'],
  }, async () => {
    await using executor = open([], { approver });
    expect((await run(executor, 'echo x > Makefile')).error).toBeUndefined();
    expect(asked.map(({ changes }) => changes)).toEqual([undefined]);
    expect((await run(executor, 'python3 .w.py justfile')).error).toBeUndefined();
    expect(asked.map(({ unexpected }) => unexpected)).toEqual([undefined, undefined, ['justfile']]);
  });

  it("is not covered by a person's approval of its directory, unless everything in there runs later", {
    tags: ['soak'],
  }, async () => {
    outside(
      'mkdir d .husky && echo x > d/Makefile && echo x > d/a && tar cf t.tar -C d . && echo x > .husky/h',
    );
    await using executor = open([], { approver });
    expect((await run(executor, 'tar xf t.tar')).error).toBeUndefined();
    expect(asked.map(({ unexpected }) => unexpected)).toEqual([undefined, ['Makefile']]);
    asked = [];
    expect((await run(executor, 'rm -r .husky')).error).toBeUndefined();
    expect(asked.map(({ unexpected }) => unexpected)).toEqual([undefined]);
  });

  it('is compared with the paths of the rule', async () => {
    const make: PolicyRule = { decision: 'allow', command: 'python3 *', writes: ['out/**', 'log'] };
    const write = (...paths: readonly string[]): string => `python3 .w.py ${paths.join(' ')}`;
    expect((await runAlone(write('out/a', 'out/d/b', 'log'), make)).error).toBeUndefined();
    expect((await runAlone(write('out/Makefile'), make)).error).toBeUndefined();
    const refused = await runAlone(write('out/c', 'src/x'), make);
    expect(refused.error?.message).toContain('which the rule that allows it does not name');
    expect(refused).toMatchObject({
      error: { code: 'policy_denied' },
      metadata: { changes: { unexpected: ['src/', 'src/x'] } },
    });
    expect((await runAlone(write('new'), { ...make, writes: [] })).error?.code).toBe('policy_denied');
    expect((await runAlone('python3 .w.py', { ...make, writes: [] })).error).toBeUndefined();
    expect(outside('find . | sort')).toBe(
      '.\n./.w.py\n./log\n./out\n./out/Makefile\n./out/a\n./out/d\n./out/d/b\n',
    );
  });

  it('is compared when the command has ended, even if its text names the path (it was asked about before, without changes)', async () => {
    const touch: PolicyRule = { decision: 'allow', command: 'touch *', writes: ['out/**'] };
    await using executor = open([touch, { decision: 'allow', command: 'mkdir *', writes: ['out'] }], {
      approver,
    });
    expect((await run(executor, 'mkdir out && touch out/a')).error).toBeUndefined();
    expect(asked).toEqual([]);
    expect((await run(executor, 'touch b')).error).toBeUndefined();
    expect(asked).toMatchObject([{ unexpected: ['b'], changes: { created: ['b'] } }]);
    expect(await runAlone('touch c', touch)).toMatchObject({
      error: { code: 'policy_denied', details: { executed: 'no' } },
      metadata: { changes: { unexpected: ['c'] } },
    });
    const free: PolicyRule = { decision: 'allow', command: 'touch *' };
    expect((await runAlone('touch Makefile', free)).error?.code).toBe('policy_denied');
    expect(outside('ls')).toBe('b\nout\n');
  });

  it('is asked about in mode "auto" too, unless the program has allowed it', {
    tags: ['soak'],
  }, async () => {
    const command = 'echo x > Makefile';
    await using executor = open([], { policy: { mode: 'auto', denylist: [], rules: [EVERYTHING] } });
    expect((await run(executor, 'python3 .w.py Makefile')).error?.code).toBe('policy_denied');
    await using other = open([], { policy: { mode: 'auto', denylist: [] }, approver: null });
    expect((await run(other, command)).error).toBeUndefined();
  });

  it('is asked about once, together with the changes, if the tool asks afterwards', {
    tags: ['soak'],
  }, async () => {
    const tools = builtinTools({ bash: { approval: 'after' } });
    await using executor = open([], { tools, approver });
    expect((await run(executor, 'echo x > Makefile; echo y > a')).error).toBeUndefined();
    expect(asked).toMatchObject([{ unexpected: ['Makefile'], changes: { created: ['Makefile', 'a'] } }]);
  });

  it('is asked about when a preview is committed', { tags: ['soak'] }, async () => {
    await using executor = open([EVERYTHING], { approver });
    const call = {
      id: 'p1',
      name: 'bash',
      args: { command: 'python3 .w.py Makefile' },
    };
    const preview = await executor.preview([call]);
    expect(preview.requests).toMatchObject([{ callId: 'p1', unexpected: ['Makefile'] }]);
    expect(preview.parts).toMatchObject([{ entries: [{ path: 'Makefile', unexpected: 'runs_later' }] }, {}]);
    decision = { kind: 'deny_all' };
    expect((await preview.commit())[0]?.error?.code).toBe('user_denied');
    expect(asked).toMatchObject([{ unexpected: ['Makefile'] }]);
    decision = { kind: 'approve_all' };
    const again = await executor.preview([{ ...call, id: 'p2' }]);
    expect((await again.commit())[0]?.error).toBeUndefined();
    expect(outside('ls')).toBe('Makefile\n');
  });

  it('is kept if git switched to it in a command that a person approved', { tags: ['soak'] }, async () => {
    outside(`git init -q -b main . && git config user.email a@b && git config user.name n
      echo a > a && git add -A && git commit -qm one && git checkout -qb other && echo x > Makefile && git add -A && git commit -qm two && git checkout -q main`);
    await using executor = open([], { approver });
    expect((await run(executor, 'git checkout other')).error).toBeUndefined();
    expect(asked.map(({ unexpected }) => unexpected)).toEqual([undefined]);
    expect(outside('ls; git status --short')).toBe('Makefile\na\n');
    // A rule's consent does not cover it.
    expect(
      (await runAlone('git checkout main', { decision: 'allow', command: 'git checkout *' })).error?.code,
    ).toBe('policy_denied');
    // Nor does a person's consent cover more than git has put there.
    asked = [];
    await run(executor, 'git checkout main && echo y > Makefile.x');
    expect(asked.at(-1)?.unexpected).toEqual(['Makefile']);
  });

  describe('in the profile "contained"', () => {
    const contained = (more: ExecutorOptions = {}): Executor =>
      createExecutor({
        root: place.root,
        tools: builtinTools(),
        journal: false,
        profile: 'contained',
        approver,
        ...more,
      });

    it('is not asked about if ordinary work changes it', { tags: ['soak'] }, async () => {
      outside(
        'mkdir -p build src __pycache__ && echo x > build/a && echo x > src/a.ts && echo y > __pycache__/b',
      );
      await using executor = contained();
      for (const command of [
        'echo new > b.ts && sed -i s/x/y/ src/a.ts',
        'rm -rf build __pycache__',
        'mv src/a.ts src/c.ts',
        'git init -q && git add -A && git -c user.name=n -c user.email=e@x commit -qm one && git gc -q',
        "python3 -c \"open('new', 'w')\"",
        'mkdir empty && rmdir empty',
      ])
        expect((await run(executor, command)).error, command).toBeUndefined();
      expect(asked).toEqual([]);
      expect(outside('cat src/c.ts; ls')).toBe('y\nb.ts\nnew\nsrc\n');
    });

    it('is asked about if it removes something or runs later, and refused if there is no person', async () => {
      outside('echo x > a; echo x > b');
      await using executor = contained();
      expect((await run(executor, 'rm a')).error).toBeUndefined();
      expect((await run(executor, 'echo x > Makefile')).error).toBeUndefined();
      expect(asked.map(({ unexpected }) => unexpected)).toEqual([['a'], ['Makefile']]);
      await using alone = contained({ approver: undefined as never });
      expect((await run(alone, 'rm b')).error).toMatchObject({
        code: 'policy_denied',
        details: { executed: 'no' },
      });
      expect((await run(alone, 'cat b')).output).toBe('x\n');
      expect(outside('ls')).toBe('Makefile\nb\n');
    });

    it('is asked about before the command, if a rule asks, in background shells, and without containment', {
      tags: ['soak'],
    }, async () => {
      decision = { kind: 'deny_all' };
      const isAskedBefore = async (more: ExecutorOptions, args: object = {}): Promise<void> => {
        asked = [];
        await using executor = contained(more);
        await executor.run([{ id: `b${count++}`, name: 'bash', args: { command: 'touch new', ...args } }]);
        expect(asked.map(({ changes }) => changes)).toEqual([undefined]);
      };
      await isAskedBefore({ policy: { rules: [{ decision: 'ask', tool: 'bash' }] } });
      await isAskedBefore({}, { run_in_background: true });
      await isAskedBefore({ sandbox: { network: true } });
      await isAskedBefore({ sandbox: { os: 'preferred' } });
      await isAskedBefore({ sandbox: { transactions: 'off' } });
      expect(outside('ls')).toBe('');
    });

    it('lets a plan say that the call runs, and has two values', async () => {
      await using executor = contained();
      const plan = await executor.plan([{ id: 'p', name: 'bash', args: { command: 'make test' } }]);
      expect(plan.calls).toMatchObject([
        { disposition: 'execute_now', reason: expect.stringContaining('contained') },
      ]);
      expect(() => contained({ profile: 'other' as never })).toThrow(
        /profile must be one of none, contained/,
      );
    });
  });
});
