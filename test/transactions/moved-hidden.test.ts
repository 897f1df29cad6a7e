import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CommandOutcome } from '../../src/contract/processes.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const why = await whyNoTransactions();
const here = useKeptApart();

const SECRET = 'TOKEN=of-the-host';

/** Searches for the secret under every name, continuously; reports when it has found it, and keeps it. */
const POLL = `while :; do
  for at in *.txt */*.txt */.env */*/.env moved*; do
    [ -f "$at" ] && grep -q TOKEN= "$at" 2>/dev/null && { date +%s%N; cat "$at" >kept; }
  done
done 2>/dev/null`;

/** Resolves with the running command once it has printed its first line. */
async function begun(command: string): Promise<{ readonly outcome: Promise<CommandOutcome> }> {
  let say = (): void => {};
  const ready = new Promise<void>((resolve) => {
    say = resolve;
  });
  const outcome = here.run(`echo ready; ${command}`, { onOutput: () => say() });
  await Promise.race([ready, outcome]);
  // The watch begins 20 ms after the start.
  await pause(100);
  return { outcome };
}

/** The time limit for a watch on a busy machine; otherwise it takes a few milliseconds. */
const REACTION_MS = 1000;

function putSecret(): void {
  mkdirSync(join(here.root, 'conf/inner'), { recursive: true });
  mkdirSync(join(here.root, 'other'));
  for (const at of ['.env', 'conf/.env', 'conf/inner/.env']) writeFileSync(join(here.root, at), SECRET);
}

const WAYS: readonly [string, () => void][] = [
  ['gets another name', () => renameSync(join(here.root, '.env'), join(here.root, 'moved.txt'))],
  [
    'is moved to another directory',
    () => renameSync(join(here.root, '.env'), join(here.root, 'other/a.txt')),
  ],
  [
    'lies in a directory that gets another name',
    () => renameSync(join(here.root, 'conf'), join(here.root, 'moved')),
  ],
  [
    'lies below a directory that is moved',
    () => renameSync(join(here.root, 'conf'), join(here.root, 'other/b')),
  ],
  ['gets a second name', () => linkSync(join(here.root, '.env'), join(here.root, 'other/c.txt'))],
  [
    'is moved, and another one is saved in its place',
    () => {
      renameSync(join(here.root, '.env'), join(here.root, 'moved.txt'));
      writeFileSync(join(here.root, '.env'), 'NEW=1');
    },
  ],
];

describe.skipIf(why !== '')(`a hidden file that the host moves while a command runs${why}`, () => {
  it.each(WAYS)('that %s: the command is ended, and none of its changes are kept', async (_way, move) => {
    putSecret();
    const running = await begun(POLL);
    const moved = Date.now();
    move();
    const outcome = await running.outcome;
    expect(outcome).toMatchObject({
      exitCode: null,
      aborted: false,
      discarded: 'a file that is hidden from it was moved while it ran',
    });
    expect(outcome.sandbox?.lost?.length).toBeGreaterThan(0);
    const found = outcome.stdout.head.split('\n').filter((line) => /^\d+$/.test(line));
    for (const line of found) expect(Number(line) / 1e6 - moved).toBeLessThan(REACTION_MS);
    expect(here.outside('cat kept 2>/dev/null || echo nothing')).toBe('nothing\n');
  });

  it('stays hidden, and the command continues, if it is saved in place, by a rename, or removed', async () => {
    putSecret();
    const running = await begun(`${POLL} & sleep 1.5; kill $!; echo done`);
    writeFileSync(join(here.root, '.env'), `${SECRET} in place`);
    writeFileSync(join(here.around, 'saved'), `${SECRET} by a rename`);
    renameSync(join(here.around, 'saved'), join(here.root, 'conf/.env'));
    rmSync(join(here.root, 'conf/inner'), { recursive: true });
    expect(await running.outcome).toMatchObject({ exitCode: 0, stdout: { head: 'ready\ndone\n' } });
  });

  it('ends the command even if it is moved immediately after the start', async () => {
    putSecret();
    const onStarted = (): void => renameSync(join(here.root, 'conf'), join(here.root, 'moved'));
    const outcome = await here.run(POLL, { onStarted });
    expect(outcome.sandbox?.lost?.length).toBeGreaterThan(0);
    expect(here.outside('cat kept 2>/dev/null || echo nothing')).toBe('nothing\n');
  });
});
