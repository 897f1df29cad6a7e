import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../platform/fs/remove-tree.js';
import { createContainment } from './containment.js';
import { createSandbox } from './create-sandbox.js';
import { guardedFinder } from './find-guarded.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'guarded-')));
});
afterEach(() => removeTree(root));

function put(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
}

function look(options: Partial<Parameters<typeof createSandbox>[0]> = {}) {
  const sandbox = createSandbox({ roots: [root], ...options });
  return () => {
    const found = sandbox.guarded?.();
    const names = (list: readonly { readonly path: string }[] = []): string[] =>
      list.map(({ path }) => path.slice(root.length + 1)).toSorted();
    const { hidden, readOnly, missing = [], incomplete } = found ?? {};
    return {
      hidden: names(hidden),
      readOnly: names(readOnly),
      missing: missing.map((path) => path.slice(root.length + 1)),
      incomplete,
    };
  };
}

describe('guarded()', () => {
  it('finds the files that deny patterns name, at any depth', () => {
    put(
      '.env',
      '.env.example',
      'a/b/c/server.key',
      'a/.vscode/tasks.json',
      '.git/config',
      'a/notes.txt',
      'deep/.ssh/x',
    );
    expect(look()()).toEqual({
      hidden: ['.env', 'a/b/c/server.key', 'deep/.ssh'],
      readOnly: ['.git', 'a/.vscode'],
      missing: [],
      incomplete: false,
    });
  });

  it('finds by custom patterns too, and nothing without any', () => {
    put('secret/x', 'fixed/y', '.env');
    const own = look({
      deniedPatterns: ['secret/**'],
      deniedWritePatterns: ['fixed/**'],
      includeDefaultDenies: false,
    });
    expect(own()).toEqual({ hidden: ['secret'], readOnly: ['fixed'], missing: [], incomplete: false });
  });

  it('names the repository that is not there', () => {
    expect(look()().missing).toEqual(['.git']);
    expect(look({ includeDefaultDenies: false })().missing).toEqual([]);
  });

  it('sees at once what has come, gone and moved', async () => {
    put('a/.env', 'b/x');
    const again = look();
    expect(again().hidden).toEqual(['a/.env']);
    // Long enough for the directories to be remembered.
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(again().hidden).toEqual(['a/.env']);
    put('b/.env');
    expect(again().hidden).toEqual(['a/.env', 'b/.env']);
    renameSync(join(root, 'a'), join(root, 'c'));
    rmSync(join(root, 'b/.env'));
    expect(again().hidden).toEqual(['c/.env']);
  });

  it('follows no links, names none, and says when it has not seen all', () => {
    put('real/.env', 'node_modules/x/.env');
    symlinkSync(join(root, 'real'), join(root, 'link'));
    symlinkSync(join(root, 'real/.env'), join(root, '.env'));
    expect(look()().hidden).toEqual(['real/.env']);
    expect(look()()).toMatchObject({ incomplete: false });
  });

  it.skipIf(process.platform !== 'linux')(
    'bug: a name that is not UTF-8 hid nothing below it, and ended every command',
    () => {
      const odd = (...parts: readonly (string | number)[]): Buffer =>
        Buffer.concat(
          [`${root}/`, ...parts].map((part) =>
            typeof part === 'string' ? Buffer.from(part) : Buffer.of(part),
          ),
        );
      const again = look();
      mkdirSync(odd('d', 0xff));
      writeFileSync(odd('d', 0xff, '/x'), '');
      put('\ufffd/.env');
      expect(again()).toMatchObject({ hidden: ['\ufffd/.env'], incomplete: false });
      writeFileSync(odd('d', 0xff, '/.env'), '');
      expect(again()).toMatchObject({ hidden: ['\ufffd/.env'], incomplete: true });
      unlinkSync(odd('d', 0xff, '/.env'));
      writeFileSync(odd('.env.', 0xfe), '');
      expect(again()).toMatchObject({ hidden: ['\ufffd/.env'], incomplete: true });
    },
  );

  it('keeps what it found first where there is more than can be guarded, and says so', () => {
    put('deep/down/in/here/.env');
    const again = look();
    expect(again()).toMatchObject({ hidden: ['deep/down/in/here/.env'], incomplete: false });
    for (let index = 0; index < 2000; index++) writeFileSync(join(root, `${index}.pem`), '');
    const { hidden, incomplete } = again();
    expect([hidden.length, incomplete, hidden.includes('deep/down/in/here/.env')]).toEqual([
      2000,
      true,
      true,
    ]);
    rmSync(join(root, '0.pem'));
    expect(again()).toMatchObject({ incomplete: false });
  });

  it('bug: directories with millions of entries were read whole, whatever their number', () => {
    put('.env', ...Array.from({ length: 40 }, (_, index) => `data/${index}.txt`), 'z/server.key');
    const { guarded } = guardedFinder(createContainment({ roots: [root] }), 30);
    const { hidden, incomplete } = guarded('every');
    // The file system determines which one it meets first.
    expect(hidden.map(({ path }) => path)).toContain(join(root, '.env'));
    expect(incomplete).toBe(true);
    rmSync(join(root, 'data'), { recursive: true });
    const again = guarded('every');
    expect({ names: again.hidden.length, incomplete: again.incomplete }).toEqual({
      names: 2,
      incomplete: false,
    });
  });

  it('looks at no directory again with what was just read, and never with what another caller began to read', async () => {
    put('x');
    const { readAhead, guarded, leading } = guardedFinder(createContainment({ roots: [root] }));
    const [read, joined] = await Promise.all([readAhead(), readAhead()]);
    put('.env');
    symlinkSync('x', join(root, 'link'));
    expect([read, joined]).toEqual([expect.anything(), undefined]);
    expect([guarded('every', read).hidden, leading(undefined, read)]).toEqual([[], []]);
    expect([guarded('every', joined).hidden.length, leading(undefined, joined).length]).toEqual([1, 1]);
  });

  it('bug: other work waited until a large directory was read', async () => {
    put('x');
    for (let index = 0; index < 20_000; index++) linkSync(join(root, 'x'), join(root, `${index}`));
    const { readAhead, guarded } = guardedFinder(createContainment({ roots: [root] }));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await readAhead();
    clearImmediate(counting);
    expect(turns).toBeGreaterThan(0);
    expect(guarded('every').directories?.[0]?.has('19999')).toBe(true);
  });
});
