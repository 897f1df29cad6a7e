import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDone } from '../../src/commands/transaction/sweep-transactions.js';
import type { PlannedChange } from '../../src/commands/transaction/transaction-plan.js';
import { planTransactionUndo } from '../../src/commands/transaction/undo-plan.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

/** The directory of the only transaction. */
function transaction(): string {
  const [name] = readdirSync(here.place).filter((one) => one.startsWith('transaction-'));
  return join(here.place, name ?? '');
}

/** The committed files. */
function filesOfPlan(): readonly PlannedChange[] {
  return (readDone(transaction())?.changes ?? []).filter(({ kind }) => kind === 'file');
}

describe.skipIf(WHY_NOT !== '')(`a directory that a command created${WHY_NOT}`, () => {
  it('moves into the root by one rename: its entries keep the inodes that the command gave them', async () => {
    const outcome = await here.run(
      'mkdir -p x/y; echo z >x/y/z; ln x/y/z x/hard; ln -s y x/link; chmod 2751 x/y; stat -c "%i" x/y/z',
    );
    expect(outcome.changes?.created).toEqual(['x/', 'x/hard', 'x/link', 'x/y/', 'x/y/z']);
    expect(here.outside('stat -c %i x/y/z; stat -c %h x/hard; stat -c %a x/y; cat x/y/z')).toBe(
      `${outcome.stdout.head.trim()}\n2\n751\nz\n`,
    );
    expect(filesOfPlan().every(({ isInside }) => isInside === true)).toBe(true);
  });

  it('keeps no overlay attribute, and neither do entries that were moved into it from the root', async () => {
    here.outside('echo 1 >kind; echo m >moved; echo l >linked');
    const { stdout, changes } = await here.run(
      `rm kind; mkdir -p kind/in; echo 2 >kind/in/2; ln -s 2 kind/in/way; mv moved kind/in; ln linked kind/in/name; ls -R kind`,
    );
    expect(stdout.head).toContain('moved');
    expect(changes?.created).toHaveLength(6);
    const list = `perl -e 'for (split /\n/, \`find . linked\`) { my $at = "$_"; my $names = "\\0" x 999; my $n = syscall(195, $at, $names, 999); print "$at ", substr($names, 0, $n < 0 ? 0 : $n), "\n" }'`;
    if (process.arch !== 'x64') return;
    expect(here.outside(list)).toContain('kind/in/moved \n');
    expect(here.outside(list)).not.toContain('overlay');
  });

  it('is recorded completely, however many entries it has', async () => {
    const { changes } = await here.run('mkdir many; cd many; seq 450 | xargs touch');
    expect(changes?.more).toBe(251);
    expect(filesOfPlan().map(({ path }) => path)).toHaveLength(450);
    expect(new Set(filesOfPlan().map(({ path }) => path)).size).toBe(450);
    const undo = planTransactionUndo(transaction(), () => undefined);
    expect([undo?.restored.length, undo?.skipped]).toEqual([451, []]);
  });

  it('is created without the left-out part, if there is one', async () => {
    const outcome = await here.run('mkdir -p x/y whole; mkfifo x/y/pipe; echo a >x/y/a; echo b >whole/b');
    expect(outcome.changes).toMatchObject({ refused: [{ path: 'x/y/pipe' }] });
    expect(here.outside('find . -mindepth 1 | sort')).toBe('./whole\n./whole/b\n./x\n./x/y\n./x/y/a\n');
    const moved = filesOfPlan().map(({ path, isInside }) => [path, isInside === true]);
    expect(Object.fromEntries(moved)).toEqual({ 'whole/b': true, 'x/y/a': false });
  });

  it('is not merged into a directory that another program created in the meantime', async () => {
    const outcome = await here.run('mkdir new && echo ours >new/a', {
      agree: () => {
        mkdirSync(join(here.root, 'new'));
        writeFileSync(join(here.root, 'new/a'), 'theirs\n');
        return Promise.resolve(undefined);
      },
    });
    expect(outcome).toMatchObject({ exitCode: 1, reruns: 1 });
    expect(here.outside('cat new/a')).toBe('theirs\n');
  });

  it('is undone with its content, even if a program wrote the same content again', async () => {
    await here.run('mkdir -p x/y; echo z >x/y/z; echo a >x/a');
    const at = join(here.root, 'x/y/z');
    utimesSync(at, 1, 1);
    expect(statSync(at).mtimeMs).toBe(1000);
    expect(planTransactionUndo(transaction(), () => undefined)).toMatchObject({ skipped: [] });
    writeFileSync(at, 'changed\n');
    const undo = planTransactionUndo(transaction(), () => undefined);
    expect(undo?.restored).toEqual([join(here.root, 'x/a')]);
    expect(undo?.skipped.map(({ path }) => path)).toContain(at);
  });
});
