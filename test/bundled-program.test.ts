import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { isSafeSqlite } from '../src/platform/sqlite/sqlite.js';
import { buildFirst, builtCommand } from './cli/built-command.js';

const ROOT = resolve(import.meta.dirname, '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-bundled-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createExecutor } from 'toolexec';
import { readCalls } from 'toolexec/protocols';
async function main() {
  const root = process.argv.at(-1);
  const executor = createExecutor({ root, journal: root + '/.journal.db', approver: () => ({ kind: 'approve_all' }) });
  const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } });
  const { calls } = readCalls({
    choices: [{ message: { role: 'assistant', tool_calls: [
      call('1', 'write_file', { path: 'note.txt', content: 'needle\\n' }),
      call('2', 'read_file', { path: 'note.txt' }),
      call('3', 'bash', { command: 'cat note.txt | wc -l' }),
      call('4', 'grep', { pattern: 'needle' }),
    ] } }],
  });
  const results = await executor.run(calls, { parallel: false });
  console.log(JSON.stringify(results.map(({ success, error, metadata }) => [success, error === undefined ? null : error.message + ' ' + error.hint, metadata.recorded ?? true])));
  await executor.close();
}
main();
`;

/** What docs/bundling.md says has to lie beside the bundle. */
const NATIVE = [
  '@photostructure/sqlite',
  'node-gyp-build',
  '@vscode/ripgrep',
  `@vscode/ripgrep-${process.platform}-${process.arch}`,
];

const FORMATS = [
  ['an ES module', 'esm', 'program.mjs'],
  ['CommonJS', 'cjs', 'program.cjs'],
] as const;

/** The program as one file, in a directory that has no packages. */
async function bundled(format: 'esm' | 'cjs', name: string): Promise<string> {
  const source = mkdtempSync(join(folder, 'source-'));
  mkdirSync(join(source, 'node_modules'));
  symlinkSync(dirname(dirname(dirname(builtCommand()))), join(source, 'node_modules', 'toolexec'));
  writeFileSync(join(source, 'program.mjs'), PROGRAM);
  const place = mkdtempSync(join(folder, 'deployed-'));
  await build({
    entryPoints: [join(source, 'program.mjs')],
    outfile: join(place, name),
    bundle: true,
    platform: 'node',
    format,
    // CommonJS knows no `import.meta`; toolexec does without.
    logOverride: { 'empty-import-meta': 'silent' },
    logLevel: 'error',
  });
  return place;
}

/** What the program prints: whether each call succeeded, its error, and whether it was recorded. */
async function run(place: string, name: string): Promise<unknown> {
  const root = mkdtempSync(join(folder, 'root-'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(place, name), root], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('a program that was bundled with toolexec', () => {
  buildFirst();

  it.each(FORMATS)('as %s reads, writes, runs, searches and journals', async (_, format, name) => {
    const place = await bundled(format, name);
    for (const native of NATIVE)
      cpSync(join(ROOT, 'node_modules', native), join(place, 'node_modules', native), { recursive: true });
    const fine = [true, null, true];
    expect(await run(place, name)).toEqual([fine, fine, fine, fine]);
  });

  it.skipIf(isSafeSqlite(process.versions.sqlite))(
    'says which package is missing when it was deployed without it (skipped where Node brings SQLite)',
    async () => {
      const place = await bundled('esm', 'program.mjs');
      const outcome = JSON.stringify(await run(place, 'program.mjs'));
      expect(outcome).toContain('Cannot load SQLite from @photostructure/sqlite');
    },
  );
});

it('leaves webpack nothing to replace: it puts `undefined` in the place of a `createRequire` that is imported by name', () => {
  const built = dirname(dirname(builtCommand()));
  const files = readdirSync(built).filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(8);
  for (const name of files) {
    expect(readFileSync(join(built, name), 'utf8'), name).not.toMatch(/import\s*\{[^}]*\bcreateRequire\b/);
  }
});
