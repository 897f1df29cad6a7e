import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'guarded-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

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
  it('finds what the deny patterns speak of, as deep as it lies', () => {
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

  it('finds by patterns of its own too, and nothing without any', () => {
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
    // Long enough for the directories to be known.
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
});
