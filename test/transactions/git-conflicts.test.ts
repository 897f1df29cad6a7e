import { beforeEach, describe, expect, it } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

/** Commits of the host have the same hashes in each run. */
const DATED = 'export GIT_AUTHOR_DATE="1000000000 +0000" GIT_COMMITTER_DATE="1000000000 +0000"; ';

const SET_UP =
  DATED +
  'git init -q -b main; git config user.name me; git config user.email me@here; echo a >a; git add -A; git commit -qm one; git branch other';

/** The repository is consistent, and the working tree equals the commit. */
const CHECK =
  'git fsck --strict 2>&1 | grep -v dangling; git status --porcelain; ls .git/*.lock 2>/dev/null || true';

describe.skipIf(WHY_NOT !== '')(`two commits at once in one repository${WHY_NOT}`, () => {
  beforeEach(() => {
    here.outside(SET_UP);
  });

  it('both succeed, one after the other', async () => {
    for (let round = 1; round <= 2; round++) {
      const commands = ['x', 'y'].map((who) =>
        here.run(`echo ${round} >${who}${round}; git add -A; sleep 0.1; git commit -qm ${who}${round}`),
      );
      const outcomes = await Promise.all(commands);
      for (const outcome of outcomes) {
        expect(outcome.discarded, outcome.stdout.head + outcome.stderr.head).toBeUndefined();
        expect(outcome.exitCode).toBe(0);
      }
      expect(here.outside(CHECK)).toBe('');
    }
    expect(here.outside('git log --format=%s main').split('\n').filter(Boolean).sort()).toEqual([
      'one',
      'x1',
      'x2',
      'y1',
      'y2',
    ]);
    expect(here.outside('git ls-files | wc -l')).toBe('5\n');
  });

  it('succeed if both conversations commit without a pause', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const COUNT = 'echo $(( $(cat count) + 1 )) >count; git add -A; git commit -qm up';
    here.outside('echo 0 >count; git add count; git commit -qm count');
    const commitOften = async (): Promise<void> => {
      for (let round = 0; round < 8; round++) {
        const { exitCode, discarded, stderr } = await here.run(COUNT);
        expect([exitCode, discarded], stderr.head).toEqual([0, undefined]);
      }
    };
    await Promise.all([commitOften(), commitOften(), commitOften()]);
    expect(here.outside('cat count; git log --format=%s | grep -c up')).toBe('24\n24\n');
    expect(here.outside(CHECK)).toBe('');
  });

  it('succeed in 100 rounds', { tags: ['soak'], timeout: 300_000 }, async () => {
    const commit = (who: string, round: number): ReturnType<typeof here.run> =>
      here.run(`echo ${round} >${who}; git add ${who}; git commit -qm ${who}${round} ${who}`);
    for (let round = 1; round <= 50; round++) {
      const outcomes = await Promise.all(['x', 'y'].map((who) => commit(who, round)));
      expect(outcomes.map(({ exitCode, discarded }) => [exitCode, discarded])).toEqual([
        [0, undefined],
        [0, undefined],
      ]);
    }
    expect(here.outside(CHECK)).toBe('');
    expect(here.outside('git log --oneline | wc -l')).toBe('101\n');
  });
});

describe.skipIf(WHY_NOT !== '')(`a command that removes branches and tags${WHY_NOT}`, () => {
  it('bug: was always in conflict in a repository without packed references', async () => {
    here.outside(`${SET_UP}; git tag old; ls .git/packed-refs 2>/dev/null && exit 1 || true`);
    const outcome = await here.run('git branch -D other; git tag -d old');
    expect([outcome.exitCode, outcome.discarded, outcome.reruns]).toEqual([0, undefined, undefined]);
    expect(here.outside('git branch --format="%(refname)"; git tag')).toBe('refs/heads/main\n');
    expect(here.outside(CHECK)).toBe('');
  });
});

describe.skipIf(WHY_NOT !== '')(`a git that another git blocks${WHY_NOT}`, () => {
  const ADD = 'echo b >b; echo ready; sleep 0.4; git add b';

  it('is run again when the other one has released the index', async () => {
    here.outside(SET_UP);
    let runs = 0;
    const outcome = await here.run(ADD, {
      onOutput: () => {
        if (++runs === 1)
          here.outside('touch .git/index.lock; (sleep 0.8; rm .git/index.lock) >/dev/null 2>&1 &');
      },
    });
    expect(outcome).toMatchObject({ exitCode: 0, reruns: 1 });
    expect(here.outside('git ls-files')).toBe('a\nb\n');
  });

  it('is run again if an overlay hides a commit of the other one from it, in a directory of objects that the command created', async () => {
    here.outside(SET_UP);
    let runs = 0;
    const outcome = await here.run('echo b >b; git add b; ls .git/objects; sleep 0.4; git commit -qm two', {
      onOutput: (stream) => {
        if (stream !== 'stdout' || ++runs > 1) return;
        const commit = here.outside(`${DATED}git commit-tree -m "theirs 18" HEAD^{tree} -p HEAD`);
        // As that of the file.
        expect(commit).toMatch(/^61/);
        here.outside(`git update-ref refs/heads/main ${commit}`);
      },
    });
    expect(outcome).toMatchObject({ exitCode: 0, reruns: 1 });
    expect(here.outside('git log --format=%s')).toBe('two\ntheirs 18\none\n');
    expect(here.outside(CHECK)).toBe('');
  });

  it('is run again even if the shell continued after it, and a later step failed', {
    tags: ['soak'],
  }, async () => {
    here.outside(SET_UP);
    let runs = 0;
    const outcome = await here.run(`${ADD}; git commit -qm b b`, {
      onOutput: (stream) => {
        if (stream === 'stdout' && ++runs === 1)
          here.outside('touch .git/index.lock; (sleep 0.6; rm .git/index.lock) >/dev/null 2>&1 &');
      },
    });
    expect(outcome).toMatchObject({ exitCode: 0, reruns: 1 });
    expect(here.outside('git log --format=%s -1')).toBe('b\n');
  });

  it('is not run again with the network on, if the failure was intended, or without another git', {
    tags: ['soak'],
  }, async () => {
    for (const [options, outside] of [
      [{ rules: { onConflict: 'fail' } }, 'touch .git/index.lock'],
      [{ network: true }, 'touch .git/index.lock'],
      [{}, 'true'],
    ] as const) {
      const there = makeKeptApart(options);
      there.outside(SET_UP);
      const outcome = await there.run(
        'echo b >b; echo ready; sleep 0.3; git add b || exit; git show nothing',
        {
          onOutput: (stream) => void (stream === 'stdout' && there.outside(outside)),
        },
      );
      expect(outcome.exitCode).toBe(128);
      expect(outcome.reruns).toBeUndefined();
      there.remove();
    }
  });
});

describe.skipIf(WHY_NOT !== '')(`a command that commits, and others in the same repository${WHY_NOT}`, () => {
  const COMMIT = 'echo b >b; git add b; echo ready; sleep 0.5; git commit -qm two';
  const failing = () => makeKeptApart({ rules: { onConflict: 'fail' } });

  const HARMLESS = [
    ['refresh the index', 'touch a; git status'],
    ['only look', 'git log; git diff; git show HEAD'],
    ['fetch', 'git fetch -q . other:refs/remotes/o/other'],
    ['make another branch', 'git branch third'],
    ['move another branch', 'git update-ref refs/heads/other $(git commit-tree -m x HEAD^{tree} -p HEAD)'],
    ['write a note in a file of their own', 'echo theirs >theirs'],
    ['add objects', 'git hash-object -w /etc/passwd /etc/group'],
  ] as const;
  eachOf<[string, string]>(
    [
      ['do all that is harmless', HARMLESS.map(([, outside]) => outside).join('; ')],
      ...HARMLESS.map(([title, outside]): [string, string] => [title, outside]),
    ],
    1,
  )('is committed if they %s', async (_title, outside) => {
    const there = failing();
    there.outside(SET_UP);
    const outcome = await there.run(COMMIT, {
      onOutput: () => void there.outside(`${DATED}(${outside}) >&2 2>/dev/null`),
    });
    expect(outcome.discarded, JSON.stringify(outcome.changes)).toBeUndefined();
    expect(there.outside('git log --format=%s main')).toBe('two\none\n');
    expect(there.outside(`rm -f theirs; ${CHECK}`)).toBe('');
    there.remove();
  });

  eachOf<[string, string, string, string]>(
    [
      ['stage something', 'echo other >other; git add other', 'one\n', 'A  other\n'],
      [
        'move the branch',
        'git update-ref refs/heads/main $(git commit-tree -m theirs HEAD^{tree} -p HEAD)',
        'theirs\none\n',
        '',
      ],
      ['begin a merge', 'git rev-parse HEAD >.git/MERGE_HEAD', 'one\n', ''],
      ['hold the index', 'echo x >.git/index.lock', 'one\n', ''],
      ['commit', 'echo other >other; git add other; git commit -qm theirs', 'theirs\none\n', ''],
      ['switch the branch', 'git checkout -q other', 'one\n', ''],
    ],
    -2,
  )('keeps nothing if they %s', async (_title, outside, log, status) => {
    const there = failing();
    there.outside(SET_UP);
    const outcome = await there.run(COMMIT, { onOutput: () => void there.outside(DATED + outside) });
    expect(outcome.discardedBy, JSON.stringify(outcome)).toBe('conflict');
    expect(
      there.outside(
        'rm -f .git/index.lock .git/MERGE_HEAD; git log --format=%s main; ls b 2>/dev/null || true',
      ),
    ).toBe(log);
    expect(there.outside(CHECK)).toBe(status);
    there.remove();
  });

  it('keeps the lines that both have appended to a log', async () => {
    here.outside(SET_UP);
    const outcome = await here.run(COMMIT, {
      onOutput: () =>
        void here.outside(
          'git update-ref -m theirs --create-reflog refs/heads/other $(git commit-tree -m x HEAD^{tree} -p HEAD); echo "$(git rev-parse HEAD) $(git rev-parse HEAD) me <me@here> 1 +0000\ttheirs" >>.git/logs/HEAD',
        ),
    });
    expect(outcome.discarded).toBeUndefined();
    expect(here.outside('git reflog --format=%gs HEAD')).toMatch(
      /commit: two[\s\S]*theirs[\s\S]*commit \(initial\): one/,
    );
    expect(here.outside('git fsck --strict 2>&1 | grep -v dangling || true')).toBe('');
  });

  it('may collect garbage while others commit: nothing that they need is gone', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    here.outside(SET_UP);
    const outcome = await here.run('git gc -q --prune=now; echo ready; sleep 0.5', {
      onOutput: () =>
        void here.outside(
          '(git log --format=%s | grep -q theirs) || (echo theirs >theirs; git add -A; git commit -qm theirs)',
        ),
    });
    expect(outcome.exitCode).toBe(0);
    expect(here.outside(`git log --format=%s; ${CHECK}`)).toMatch(/^theirs\none\n/);
    expect(here.outside('git fsck --strict 2>&1 | grep -v dangling || true')).toBe('');
  });
});
