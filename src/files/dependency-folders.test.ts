import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.js';
import { DEPENDENCY_FOLDERS } from './dependency-folders.js';

let root: string;
beforeAll(() => {
  // The names of roots and of their parent directories do not count.
  root = join(realpathSync(mkdtempSync(join(tmpdir(), 'dependencies-'))), 'vendor/app');
  for (const path of ['.env', 'vendor/lib/.env', 'vendor/lib/mine.txt', 'vendor/.git/config', 'src/a.pem']) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
});
afterAll(() => rmSync(dirname(dirname(root)), { recursive: true, force: true }));

describe('dependency folders', () => {
  it.each(DEPENDENCY_FOLDERS)('are free of built-in patterns for commands: %s', (folder) => {
    const { denied } = createSandbox({ roots: [root] });
    for (const name of ['cert.pem', 'x/.env', '.npmrc', '.vscode/tasks.json', '.ssh/id_rsa']) {
      expect(denied?.(join(root, folder, name), 'write')).toBeUndefined();
      expect(denied?.(join(root, 'a/b', folder, name), 'write')).toBeUndefined();
      expect(denied?.(join(root, `my-${folder}`, name), 'write')).toBeDefined();
    }
    expect(denied?.(join(root, '.env'), 'read')).toBe('**/.env');
  });

  it('keep what the person names, and what git and toolexec go by', () => {
    const { denied } = createSandbox({ roots: [root], deniedPatterns: ['**/mine.txt'] });
    expect(denied?.(join(root, 'vendor/lib/mine.txt'), 'read')).toBe('**/mine.txt');
    expect(denied?.(join(root, 'vendor/x/.git/hooks/pre-commit'), 'write')).toBe('**/.git/**');
    expect(denied?.(join(root, 'vendor/.config/toolexec/toolexec.toml'), 'write')).toBeDefined();
  });

  it('open no file of the system, where a root holds it', () => {
    expect(createSandbox({ roots: ['/'] }).denied?.('/proc/vendor/x', 'read')).toBe('/proc/**');
  });

  it('deny nothing themselves without the built-in patterns', () => {
    const { denied } = createSandbox({ roots: [root], includeDefaultDenies: false });
    expect(denied?.(join(root, 'vendor/x/.git/hooks/pre-commit'), 'write')).toBeUndefined();
  });

  it('hide nothing from commands that the person has not named', () => {
    const guarded = createSandbox({ roots: [root], deniedPatterns: ['**/mine.txt'] }).guarded?.();
    const names = (list: readonly { readonly path: string }[] = []): string[] =>
      list.map(({ path }) => path.slice(root.length + 1)).toSorted();
    expect(names(guarded?.hidden)).toEqual(['.env', 'src/a.pem', 'vendor/lib/mine.txt']);
    expect(names(guarded?.readOnly)).toEqual(['vendor/.git']);
  });

  it('are as closed to file tools as everything else', async () => {
    const { files } = createSandbox({ roots: [root] });
    await expect(files.read('vendor/lib/.env')).rejects.toThrow(/deny pattern|denied/i);
  });
});
