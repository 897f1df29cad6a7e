import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeGitLocks } from '../../src/commands/transaction/git-locks.js';
import { recoverTransaction } from '../../src/commands/transaction/sweep-transactions.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

describe.skipIf(WHY_NOT !== '')(`locks of git that a dead process has left${WHY_NOT}`, () => {
  it('are removed with its transaction, and locks of other programs stay', async () => {
    here.outside('git init -q -b main');
    const directory = join(here.around, `transaction-${'0'.repeat(24)}-${'0'.repeat(16)}`);
    mkdirSync(directory);
    const [ours, theirs] = ['index', 'HEAD'].map((name) => join(here.root, '.git', `${name}.lock`));
    await takeGitLocks(directory, [ours ?? '']);
    writeFileSync(theirs ?? '', 'theirs\n');
    writeFileSync(join(directory, 'locks.json'), JSON.stringify([ours, theirs]));
    expect(recoverTransaction(directory)).toEqual({ state: 'discarded' });
    expect([existsSync(ours ?? ''), existsSync(theirs ?? '')]).toEqual([false, true]);
    expect(existsSync(directory)).toBe(false);
  });
});
