import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolContext } from '../../contract/context.js';
import { bytes, call, type Desk, desk } from '../fixtures/undo-desk.js';

type Files = ToolContext['files'];

interface Scenario {
  /** Files before the call, with their permission bits. */
  readonly before: Tree;
  /** A patch, or the action of a tool. */
  readonly call: string | ((files: Files) => Promise<unknown>);
  /** The person's changes after the call. */
  readonly person?: (at: Desk) => void;
  /** Everything that exists after the undo. */
  readonly expected: Tree;
  /** By path: why it was not restored. */
  readonly skipped?: Readonly<Record<string, string>>;
}

/** `<bits> <text>` for a file, `<bits>/` for a directory. */
type Tree = Readonly<Record<string, string>>;

const put = (name: string, text: string) => (files: Files) =>
  files.write(name, bytes(text), { mode: 'create' });
const inTurn =
  (...steps: readonly ((files: Files) => Promise<unknown>)[]) =>
  async (files: Files): Promise<void> => {
    for (const step of steps) await step(files);
  };
const remove = (name: string) => (files: Files) => files.remove(name);
const set = (name: string, text: string, mode: number) => (files: Files) =>
  files.writeAll([{ path: name, bytes: bytes(text), mode }]);
const bits =
  (name: string, mode: number) =>
  ({ root }: Desk): void =>
    chmodSync(join(root, name), mode);

const TAKE_OVER = '*** Delete File: a\n*** Add File: b\n+text\n';

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'bits that the call set on an unchanged text come back': {
    before: { f: '640 text' },
    call: set('f', 'text', 0o700),
    expected: { f: '640 text' },
  },
  'bits that the call set, and a person has set again, stay': {
    before: { f: '640 text' },
    call: set('f', 'text', 0o700),
    person: bits('f', 0o604),
    expected: { f: '604 text' },
    skipped: { f: 'it is as it was before' },
  },
  'bits of a file that the call removed and made again come back': {
    before: { f: '755 text' },
    call: inTurn(remove('f'), put('f', 'text')),
    expected: { f: '755 text' },
  },
  'bits that a person has set stay on the old text': {
    before: { f: '644 old' },
    call: set('f', 'new', 0o644),
    person: bits('f', 0o600),
    expected: { f: '600 old' },
  },
  'a file of the call whose bits a person has set stays': {
    before: {},
    call: inTurn(put('d/made', 'text'), put('other', 'text')),
    person: bits('d/made', 0o700),
    expected: { d: '755/', 'd/made': '700 text' },
    skipped: { 'd/made': 'its permission bits were changed since' },
  },
  'a file of a patch whose bits a person has set stays': {
    before: {},
    call: '*** Add File: run.sh\n+echo\n',
    person: bits('run.sh', 0o755),
    expected: { 'run.sh': '755 echo\n' },
    skipped: { 'run.sh': 'its permission bits were changed since' },
  },
  'a text that a patch took elsewhere goes back': {
    before: { a: '640 text\n' },
    call: TAKE_OVER,
    expected: { a: '640 text\n' },
  },
  'the only copy of a text stays where a person has made a new file in the old place': {
    before: { a: '640 text\n' },
    call: TAKE_OVER,
    person: (at) => at.write('a', 'mine'),
    expected: { a: '644 mine', b: '644 text\n' },
    skipped: { a: 'it was changed since', b: 'it holds the old content of "ROOT/a", which stays' },
  },
  'a copy goes where another one stays': {
    before: { a: '640 text\n', c: '644 old\n' },
    call: `${TAKE_OVER}*** Add File: d\n+text\n`,
    person: (at) => at.write('a', 'mine'),
    expected: { a: '644 mine', b: '644 text\n', c: '644 old\n' },
    skipped: { a: 'it was changed since', b: 'it holds the old content of "ROOT/a", which stays' },
  },
  'no copy is needed where the person has the same text': {
    before: { a: '640 text\n' },
    call: TAKE_OVER,
    person: (at) => at.write('a', 'text\n'),
    expected: { a: '644 text\n' },
    skipped: { a: 'it is as it was before' },
  },
  'an empty file has no text to lose': {
    before: { a: '644 ' },
    call: inTurn(remove('a'), put('b', '')),
    person: (at) => at.write('a', 'mine'),
    expected: { a: '644 mine' },
    skipped: { a: 'it was changed since' },
  },
  'a text that replaced another one stays, when it is the only copy': {
    before: { a: '644 one', b: '644 two' },
    call: inTurn(remove('a'), (files) => files.write('b', bytes('one'), { mode: 'overwrite' })),
    person: (at) => at.write('a', 'mine'),
    expected: { a: '644 mine', b: '644 one' },
    skipped: { a: 'it was changed since', b: 'it holds the old content of "ROOT/a", which stays' },
  },
  'a file comes back where the call made a directory': {
    before: { a: '640 text' },
    call: inTurn(remove('a'), put('a/b/c', 'inner'), put('a/d', 'inner')),
    expected: { a: '640 text' },
  },
  'a directory of the call stays where a person has a file in it, and so does all that is in it': {
    before: { a: '640 text' },
    call: inTurn(remove('a'), put('a/b', 'inner')),
    person: (at) => at.write('a/mine', 'mine'),
    expected: { a: '755/', 'a/mine': '644 mine' },
    skipped: { a: 'it was changed since' },
  },
  'a file comes back where it is gone with its directory': {
    before: { d: '755/', 'd/f': '644 text' },
    call: remove('d/f'),
    person: ({ root }) => rmSync(join(root, 'd'), { recursive: true }),
    expected: { d: '755/', 'd/f': '644 text' },
  },
};

function treeOf(root: string): Tree {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const mode = (lstatSync(path).mode & 0o7777).toString(8);
    const says = entry.isDirectory() ? `${mode}/` : `${mode} ${readFileSync(path, 'utf8')}`;
    return [path.slice(root.length + 1), says] as const;
  });
  return Object.fromEntries(entries);
}

function fill(root: string, tree: Tree): void {
  for (const [name, says] of Object.entries(tree)) {
    const path = join(root, name);
    const [, mode = '', text] = /^(\d+)(?:\/| (.*))$/s.exec(says) ?? [];
    if (text === undefined) mkdirSync(path);
    else writeFileSync(path, text);
    chmodSync(path, Number.parseInt(mode, 8));
  }
}

async function carryOut(at: Desk, what: Scenario['call']): Promise<void> {
  if (typeof what !== 'string') return at.act('x', what);
  const patch = `*** Begin Patch\n${what}*** End Patch`;
  const reads = ['a', 'c'].map((path) => call('read_file', { path }, `read ${path}`));
  const results = await at.executor.run([...reads, call('apply_patch', { patch }, 'x')], {
    conversation: 'desk',
  });
  expect(results.at(-1)?.error).toBeUndefined();
}

describe.each(['memory', 'file'])('undo, with a journal in %s', (kind) => {
  it.each(Object.entries(SCENARIOS))(
    '%s',
    async (_, { before, call: what, person, expected, skipped = {} }) => {
      const at = desk(kind);
      fill(at.root, before);
      await carryOut(at, what);
      person?.(at);
      const changed = treeOf(at.root);
      const report = await at.executor.undo('x');
      expect(treeOf(at.root)).toEqual(expected);
      const reasons = report.skipped.map(({ path, reason }) => [
        path.slice(at.root.length + 1),
        reason.replace(at.root, 'ROOT'),
      ]);
      expect(Object.fromEntries(reasons)).toEqual(skipped);
      // The undo can be undone, and so can that undo.
      if (report.undoId === undefined) return;
      const { undoId = '' } = await at.executor.undo(report.undoId);
      expect(treeOf(at.root)).toEqual(changed);
      await at.executor.undo(undoId);
      expect(treeOf(at.root)).toEqual(expected);
    },
  );
});
