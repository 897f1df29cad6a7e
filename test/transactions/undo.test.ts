import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { whyNoTransactions } from './kept-apart.js';
import { type Places, placesHere } from './plan-maker.js';
import { UNDO_SCENARIOS, type UndoScenario } from './undo-scenarios.js';

const WHY_NOT = await whyNoTransactions();

const made: string[] = [];
afterAll(() => {
  for (const path of made) removeTree(path);
});

/** All scenarios with the same places share an executor; each has its own directory. */
class UndoPlace {
  readonly root: string;
  readonly executor: Executor;

  constructor(places: Places) {
    const around = realpathSync(mkdtempSync(join(tmpdir(), 'undo-')));
    this.root =
      places === 'one file system' ? join(around, 'root') : realpathSync(mkdtempSync('/dev/shm/undo-'));
    made.push(around, this.root);
    mkdirSync(this.root, { recursive: true });
    this.executor = createExecutor({
      root: this.root,
      approver: null,
      journal: join(around, 'journal.db'),
      sandbox: { os: 'required', transactions: 'required' },
    });
  }

  make(name: string, script: string): string {
    const directory = join(this.root, name);
    mkdirSync(directory);
    inShell(directory, script);
    return directory;
  }
}

function inShell(directory: string, script: string): string {
  return execFileSync('/bin/sh', ['-c', `umask 022; ${script}`], { cwd: directory, encoding: 'latin1' });
}

/** Each entry with its kind, mode and content. */
function look(directory: string): string {
  return inShell(
    directory,
    'find . ! -type l -printf "%p %y %m\\n" | LC_ALL=C sort; find . -type l -printf "%p %l\\n" | LC_ALL=C sort; find . -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum',
  );
}

async function check(place: UndoPlace, number: string, scenario: UndoScenario): Promise<void> {
  const { before, command, since = ':', expect: then = ':', skipped = {}, later = ':', again } = scenario;
  const wanted = look(place.make(`wanted${number}`, `${before}; ${then}`));
  const directory = place.make(`s${number}`, before);
  const [result] = await place.executor.run([
    { id: `c${number}`, name: 'bash', args: { command: `umask 022; cd s${number}; ${command}` } },
  ]);
  expect(result?.error).toBeUndefined();
  inShell(directory, since);
  const undone = await place.executor.undo(`c${number}`);
  expect({ state: look(directory), skipped: reasonsBelow(directory, undone.skipped) }).toEqual({
    state: wanted,
    skipped,
  });
  const twice = undone.skipped.filter(({ path }) => undone.restored.includes(path));
  expect(twice).toEqual([]);
  if (again === undefined) return;
  inShell(directory, later);
  await place.executor.undo(undone.undoId ?? '');
  expect(look(directory)).toBe(look(place.make(`again${number}`, `${before}; ${again}`)));
}

function reasonsBelow(
  directory: string,
  skipped: readonly { readonly path: string; readonly reason: string }[],
): Record<string, string> {
  const below = (path: string): string => path.slice(directory.length + 1);
  return Object.fromEntries(
    skipped.map(({ path, reason }) => [below(path), reason.replaceAll(`${directory}/`, '')]),
  );
}

/** These run in `npm test` too. */
const ALWAYS = 12;

describe.skipIf(WHY_NOT !== '').each(placesHere())(
  `an undo puts back what a command has done, on %s${WHY_NOT}`,
  { timeout: 180_000 },
  (places) => {
    let place: UndoPlace;
    beforeAll(() => {
      place = new UndoPlace(places);
    });
    afterAll(() => place.executor.close());
    const numbered = UNDO_SCENARIOS.map((scenario, index) => ({ ...scenario, number: `${index}` }));

    it(`has 60 scenarios or more`, () => expect(UNDO_SCENARIOS.length).toBeGreaterThanOrEqual(60));

    it.skipIf(process.getuid?.() !== 0)(
      'bug: a file of another user came back as one of this user',
      async () => {
        const directory = place.make('owner', 'echo a >a; chown 1:2 a; chmod 4750 a');
        const [result] = await place.executor.run([
          { id: 'owner', name: 'bash', args: { command: 'rm owner/a' } },
        ]);
        expect(result?.error).toBeUndefined();
        await place.executor.undo('owner');
        expect(inShell(directory, 'stat -c "%u:%g %a" a; cat a')).toBe('1:2 4750\na\n');
      },
    );

    it.each(numbered.filter((_, index) => index % ALWAYS === ALWAYS - 1))('$name', (scenario) =>
      check(place, scenario.number, scenario),
    );

    it.each(numbered.filter((_, index) => index % ALWAYS !== ALWAYS - 1))(
      '$name',
      { tags: ['soak'] },
      (scenario) => check(place, scenario.number, scenario),
    );
  },
);

describe.skipIf(WHY_NOT !== '')(`two processes that undo the same call at once${WHY_NOT}`, () => {
  it('bug: both reported the same paths as restored', async () => {
    const around = realpathSync(mkdtempSync(join(tmpdir(), 'undo-')));
    const root = join(around, 'root');
    made.push(around);
    mkdirSync(root);
    inShell(root, 'mkdir mode; echo 1 >kind; echo 1 >gone; echo 1 >file');
    const before = look(root);
    const journal = join(around, 'journal.db');
    const sandbox = { os: 'required', transactions: 'required' } as const;
    const executors = [0, 1].map(() => createExecutor({ root, approver: null, journal, sandbox }));
    const command =
      'mkdir new; echo 2 >new/in; ln -s new link; chmod 700 mode; rm kind gone; mkdir kind; echo 2 >file';
    const [result] = (await executors[0]?.run([{ id: 'c', name: 'bash', args: { command } }])) ?? [];
    expect(result?.error).toBeUndefined();
    const reports = await Promise.all(executors.map((executor) => executor.undo('c')));
    expect(look(root)).toBe(before);
    const restored = reports.flatMap((report) => report.restored).map((path) => path.slice(root.length + 1));
    expect(restored.sort()).toEqual(['file', 'gone', 'kind', 'link', 'mode', 'new', 'new/in']);
    const reasons = reports.flatMap(({ skipped }) => skipped.map(({ reason }) => reason));
    expect(new Set(reasons)).toEqual(new Set(['it is as it was before']));
    await Promise.all(executors.map((executor) => executor.close()));
  });
});
