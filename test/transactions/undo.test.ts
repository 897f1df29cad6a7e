import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
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
  return [...entriesOf(Buffer.from(directory), '.')].join('\n');
}

/** Names may be any bytes. */
function* entriesOf(path: Buffer, shown: string): Generator<string> {
  const stat = lstatSync(path);
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) yield `${shown} -> ${readlinkSync(path, 'latin1')}`;
  else if (stat.isFile())
    yield `${shown} ${mode} ${createHash('md5').update(readFileSync(path)).digest('hex')}`;
  else yield `${shown} ${mode} ${stat.isDirectory() ? 'directory' : 'special'}`;
  if (!stat.isDirectory()) return;
  for (const name of readdirSync(path, 'latin1').sort()) {
    yield* entriesOf(Buffer.concat([path, Buffer.from(`/${name}`, 'latin1')]), `${shown}/${name}`);
  }
}

/** One command makes the changes of all these scenarios, each in its own directory; one undo takes them back. */
async function check(place: UndoPlace, id: string, scenarios: readonly UndoScenario[]): Promise<void> {
  const all = scenarios.map((scenario, index) => {
    const name = `${id}-${index}`;
    const wanted = look(place.make(`wanted-${name}`, `${scenario.before}; ${scenario.expect ?? ':'}`));
    return { scenario, name, wanted, directory: place.make(name, scenario.before) };
  });
  const command = all.map(({ name, scenario }) => `(cd ${name}; ${scenario.command})`).join('; ');
  const [result] = await place.executor.run([
    { id, name: 'bash', args: { command: `umask 022; ${command}` } },
  ]);
  expect(result?.error).toBeUndefined();
  for (const { directory, scenario } of all) inShell(directory, scenario.since ?? ':');
  const undone = await place.executor.undo(id);
  for (const { directory, scenario, wanted } of all) {
    const skipped = reasonsBelow(directory, undone.skipped);
    expect({ state: look(directory), skipped }, scenario.name).toEqual({
      state: wanted,
      skipped: scenario.skipped ?? {},
    });
  }
  const twice = undone.skipped.filter(({ path }) => undone.restored.includes(path));
  expect(twice).toEqual([]);
  const undoneAgain = all.filter(({ scenario }) => scenario.again !== undefined);
  if (undoneAgain.length === 0) return;
  for (const { directory, scenario } of undoneAgain) inShell(directory, scenario.later ?? ':');
  await place.executor.undo(undone.undoId ?? '');
  for (const { name, directory, scenario } of undoneAgain) {
    const made = place.make(`again-${name}`, `${scenario.before}; ${scenario.again}`);
    expect(look(directory), scenario.name).toBe(look(made));
  }
}

/** Those in the directory: each path with its reason. */
function reasonsBelow(
  directory: string,
  skipped: readonly { readonly path: string; readonly reason: string }[],
): Record<string, string> {
  return Object.fromEntries(
    skipped
      .filter(({ path }) => path.startsWith(`${directory}/`))
      .map(({ path, reason }) => [path.slice(directory.length + 1), reason.replaceAll(`${directory}/`, '')]),
  );
}

/** `npm test` runs every twelfth scenario. Those about copies run alone: other scenarios have the same content. */
const SOME = UNDO_SCENARIOS.filter((_, index) => index % 12 === 11);
const isAboutCopies = ({ skipped = {} }: UndoScenario): boolean =>
  Object.values(skipped).some((reason) => reason.startsWith('it holds'));

describe.skipIf(WHY_NOT !== '').each(placesHere())(
  `an undo puts back what a command has done, on %s${WHY_NOT}`,
  { timeout: 180_000 },
  (places) => {
    let place: UndoPlace;
    beforeAll(() => {
      place = new UndoPlace(places);
    });
    afterAll(() => place.executor.close());
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

    it('of one command with many kinds of changes', () =>
      check(
        place,
        'many',
        SOME.filter((scenario) => !isAboutCopies(scenario)),
      ));

    it('keeps a file that has the only copy of old content', async () => {
      for (const scenario of SOME.filter(isAboutCopies)) await check(place, 'copies', [scenario]);
    });

    it.each(UNDO_SCENARIOS.map((scenario, index) => ({ ...scenario, id: `c${index}` })))(
      '$name',
      { tags: ['soak'] },
      ({ id, ...scenario }) => check(place, id, [scenario]),
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
