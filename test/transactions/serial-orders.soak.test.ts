import { exec } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const ROUNDS = soakSize('ROUNDS', { short: 8, whole: 100 });

const here = useKeptApart();

const COUNT_UP = 'echo $(( $(cat count) + 1 )) >count; git commit -qm up count';

/** Actions of agents in a working tree, and of the person at the same time. */
const AGENTS = [
  COUNT_UP,
  'echo line >>doc; sleep 0.05',
  'echo n >n$RANDOM$RANDOM; git add -A; git commit -qm new',
  'git branch b$RANDOM$RANDOM',
  'git stash -q; git stash pop -q; true',
  'git checkout -q other && git checkout -q main',
] as const;
const HOST = [
  'git status',
  'git fetch -q . other:refs/remotes/o/other',
  'git gc -q',
  'echo h >>hostfile; git add hostfile; git commit -qm host hostfile',
  'echo e >doc.tmp; cat doc >>doc.tmp; mv doc.tmp doc',
] as const;

/** Lehmer's generator: the same choices in each run. */
function choices(seed: number): <T>(from: readonly T[]) => T {
  let state = seed;
  return (from) => {
    state = (state * 48_271) % 2_147_483_647;
    const chosen = from[state % from.length];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  };
}

describe.skipIf(WHY_NOT !== '')(`two agents and a person in one repository${WHY_NOT}`, () => {
  it(
    `never leave an inconsistent repository, and lose no count, in ${ROUNDS} rounds`,
    async () => {
      here.outside(
        'git init -q -b main; git config user.name me; git config user.email me@here; git config gc.auto 0; echo 0 >count; echo x >doc; git add -A; git commit -qm start; git branch other',
      );
      const choose = choices(Number(process.env.SEED ?? 20_261_124));
      let counted = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const commands = [choose(AGENTS), choose(AGENTS)];
        const host = `sleep 0.${choose([0, 1, 2])}; ${choose(HOST)}`;
        const person = new Promise<void>((resolve) => exec(host, { cwd: here.root }, () => resolve()));
        const outcomes = await Promise.all(commands.map((command) => here.run(command)));
        await person;
        outcomes.forEach(({ exitCode, discarded }, index) => {
          if (commands[index] !== COUNT_UP || discarded !== undefined) return;
          // The changes of a failing command are kept: here a number without its commit.
          if (exitCode === 0) counted++;
          else here.outside('git checkout -q HEAD -- count');
        });
        const said = `round ${round}: ${JSON.stringify({ commands, host, outcomes: outcomes.map(({ discarded, exitCode }) => [discarded, exitCode]) })}`;
        expect(here.outside('git fsck --strict 2>&1 | grep -v dangling || true'), said).toBe('');
        expect(here.outside('find .git -name "*.lock"'), said).toBe('');
        expect(here.outside('cat count; git log --format=%s main | grep -c "^up$" || true'), said).toBe(
          `${counted}\n${counted}\n`,
        );
      }
      expect(counted).toBeGreaterThan(0);
    },
    ROUNDS * 20_000,
  );
});
