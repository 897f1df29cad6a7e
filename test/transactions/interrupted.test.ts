import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { applySteps } from '../../src/commands/transaction/apply-plan.js';
import { recoverTransaction } from '../../src/commands/transaction/sweep-transactions.js';
import {
  type PlannedChange,
  printOf,
  type TransactionPlan,
} from '../../src/commands/transaction/transaction-plan.js';
import { binaryEntry } from '../../src/platform/fs/binary-fs.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { someOf } from '../../src/testing/fixtures/share-of-runs.js';
import { buildFirst, builtCommand } from '../cli/built-command.js';
import { executorFor } from '../recovery/killed-run.js';
import { whyNoTransactions } from './kept-apart.js';

buildFirst();

const WHY_NOT = await whyNoTransactions();

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

function newPlace(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'interrupted-')));
  made.push(path);
  return path;
}

/**
 * A transaction that is about to be committed: files and two directories are created, one file is replaced, and a file
 * and a directory are removed.
 */
function prepared(): { readonly root: string; readonly directory: string; readonly plan: TransactionPlan } {
  const place = newPlace();
  const [root, directory] = [join(place, 'root'), join(place, 'transaction')];
  for (const path of ['root/tree/in', 'transaction/old', 'transaction/0/upper/d', 'transaction/0/upper/w']) {
    mkdirSync(join(place, path), { recursive: true });
  }
  const files = { 'root/a': 'a', 'root/gone': 'gone', 'root/tree/in/t': 't' };
  const upper = { 'd/new': 'new', 'w/in': 'in', a: 'A', top: 'top' };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(place, path), text);
  for (const [path, text] of Object.entries(upper)) writeFileSync(join(directory, '0/upper', path), text);
  const printed = (path: string) => {
    const entry = binaryEntry(path);
    if (entry === undefined) throw new Error(`there is no ${path}`);
    return printOf(entry);
  };
  const before = (path: string) => ({ before: printed(join(root, path)) });
  const from = (path: string) => {
    const at = join(directory, '0/upper', path);
    return { from: at, after: printed(at) };
  };
  const changes: PlannedChange[] = [
    { change: 'delete', kind: 'file', root: 0, path: 'gone', ...before('gone') },
    { change: 'delete', kind: 'file', root: 0, path: 'tree/in/t', isInside: true, ...before('tree/in/t') },
    { change: 'delete', kind: 'dir', root: 0, path: 'tree/in', isInside: true, ...before('tree/in') },
    { change: 'delete', kind: 'dir', root: 0, path: 'tree', isTree: true, ...before('tree') },
    { change: 'create', kind: 'dir', root: 0, path: 'd', after: printed(join(directory, '0/upper/d')) },
    { change: 'create', kind: 'file', root: 0, path: 'd/new', ...from('d/new') },
    { change: 'create', kind: 'file', root: 0, path: 'w/in', isInside: true, ...from('w/in') },
    { change: 'create', kind: 'dir', root: 0, path: 'w', isTree: true, ...from('w') },
    { change: 'create', kind: 'file', root: 0, path: 'top', ...from('top') },
    { change: 'modify', kind: 'file', root: 0, path: 'a', ...before('a'), ...from('a') },
  ];
  const plan: TransactionPlan = { version: 1, roots: [root], changes };
  writeFileSync(join(directory, 'plan.json'), JSON.stringify(plan));
  return { root, directory, plan };
}

function never(): never {
  throw new Error('the root is there');
}

class Killed extends Error {}

describe('a transaction whose process dies during the commit', () => {
  it('is completed by the next process, whatever the last step was', () => {
    const steps = [0, 3, 4, 5, 7, 8, 9];
    for (const last of steps) {
      const { root, directory, plan } = prepared();
      const die = (index: number): void => {
        if (index === last) throw new Killed();
      };
      expect(() => {
        for (const index of applySteps(plan, directory)) die(index);
      }).toThrow(Killed);
      expect(recoverTransaction(directory).state).toBe('committed');
      expect(readdirSync(root, { recursive: true }).sort()).toEqual(['a', 'd', 'd/new', 'top', 'w', 'w/in']);
      expect(readdirSync(join(directory, 'old')).sort()).toEqual(['0', '3', '9']);
      // Doing it again changes nothing.
      expect(recoverTransaction(directory).state).toBe('committed');
      expect(readdirSync(root, { recursive: true }).sort()).toEqual(['a', 'd', 'd/new', 'top', 'w', 'w/in']);
    }
  });

  it('is completed by the next process if entries change their kind: a removal is not attributed to another program', () => {
    for (const last of [0, 1, 3, 4, 5, 6]) {
      const place = newPlace();
      const [root, directory] = [join(place, 'root'), join(place, 'transaction')];
      for (const path of ['root/empty', 'root/tree', 'transaction/old', 'transaction/0/upper']) {
        mkdirSync(join(place, path), { recursive: true });
      }
      writeFileSync(join(root, 'file'), 'file');
      writeFileSync(join(root, 'tree/in'), 'in');
      for (const name of ['empty', 'tree']) writeFileSync(join(directory, '0/upper', name), 'now a file');
      const gone = (path: string, kind: 'file' | 'dir'): PlannedChange => {
        const entry = binaryEntry(join(root, path));
        if (entry === undefined) throw new Error(`there is no ${path}`);
        return { change: 'delete', kind, root: 0, path, before: printOf(entry) };
      };
      const come = (path: string): PlannedChange => {
        const from = join(directory, '0/upper', path);
        const entry = binaryEntry(from);
        if (entry === undefined) throw new Error(`there is no ${from}`);
        return { change: 'create', kind: 'file', root: 0, path, from, after: printOf(entry) };
      };
      const plan: TransactionPlan = {
        version: 1,
        roots: [root],
        onConflict: 'takeBack',
        changes: [
          gone('file', 'file'),
          gone('empty', 'dir'),
          { ...gone('tree/in', 'file'), isInside: true },
          { ...gone('tree', 'dir'), isTree: true },
          {
            change: 'create',
            kind: 'dir',
            root: 0,
            path: 'file',
            after: printOf(binaryEntry(root) ?? never()),
          },
          come('empty'),
          come('tree'),
        ],
      };
      writeFileSync(join(directory, 'plan.json'), JSON.stringify(plan));
      expect(() => {
        for (const index of applySteps(plan, directory)) if (index === last) throw new Killed();
      }).toThrow(Killed);
      const { state, done } = recoverTransaction(directory);
      expect([state, done?.failed], `after step ${last}`).toEqual(['committed', []]);
      const kinds = ['file', 'empty', 'tree'].map((path) => binaryEntry(join(root, path))?.kind);
      expect(kinds).toEqual(['dir', 'file', 'file']);
    }
  });

  it('has changed nothing if nothing was planned', () => {
    const { root, directory } = prepared();
    rmSync(join(directory, 'plan.json'));
    expect(recoverTransaction(directory)).toEqual({ state: 'discarded' });
    expect(readdirSync(root, { recursive: true }).sort()).toEqual([
      'a',
      'gone',
      'tree',
      'tree/in',
      'tree/in/t',
    ]);
    expect(existsSync(directory)).toBe(false);
  });
});

const PROGRAM = `
const [dist, root, journal, command] = process.argv.slice(1);
const { createExecutor } = await import(dist);
const executor = createExecutor({ root, journal, approver: null, sandbox: { os: 'required', transactions: 'required' } });
const run = executor.start([{ id: 'c1', name: 'bash', args: { command } }], { conversation: 'c' });
void (async () => { for await (const event of run.events) if (event.type === 'stdout') console.log('ready'); })();
await run.results;
console.log('ended');
await executor.close();
`;

describe.skipIf(WHY_NOT !== '')(`a command whose process is killed${WHY_NOT}`, () => {
  // The changes are committed within some milliseconds after the end of the command: whenever the kill happens, all or
  // none are made.
  eachOf(
    someOf(
      [60, 90, 0, 30, 80, 100, 110, 130, 160, 200].map((delayMs): [number] => [delayMs]),
      5,
    ),
    1,
  )('has happened completely or not at all: %i ms after the start', async (delayMs) => {
    const place = newPlace();
    const root = join(place, 'root');
    mkdirSync(join(root, 'tree'), { recursive: true });
    const journal = join(place, 'journal.db');
    for (let index = 0; index < 40; index++) writeFileSync(join(root, 'tree', `${index}`), 'old');
    const command =
      'rm tree/1*; for i in 2 3 4 5 6 7 8 9; do echo new >tree/$i; done; mkdir made; for i in 0 1 2 3 4 5 6 7 8 9; do echo x >made/$i; done; mv tree/0 made/moved; echo ready; sleep 0.05';
    const dist = join(builtCommand(), '../../index.js');
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', PROGRAM, dist, root, journal, command],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(child.stdout, 'data');
    setTimeout(() => child.kill('SIGKILL'), delayMs);
    await once(child, 'close');
    const executor = executorFor({ root, journal });
    const [batch] = await executor.recover();
    const [result] = await executor.run([{ id: 'c1', name: 'bash', args: { command } }], {
      conversation: 'c',
    });
    await executor.close();
    const names = readdirSync(root, { recursive: true });
    const hasHappened = existsSync(join(root, 'made'));
    expect(names.length).toBe(hasHappened ? 1 + 28 + 1 + 11 : 41);
    const answer = batch?.calls[0]?.result ?? result;
    if (hasHappened) expect(answer?.success).toBe(true);
    else expect(answer).toMatchObject({ error: { code: 'cancelled', details: { executed: 'no' } } });
  });
});
