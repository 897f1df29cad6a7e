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
import { eachOf } from '../src/testing/fixtures/each-of.js';
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

/** The files that must lie beside the bundle according to docs/bundling.md. */
const NATIVE = [
  '@photostructure/sqlite',
  'node-gyp-build',
  '@vscode/ripgrep',
  `@vscode/ripgrep-${process.platform}-${process.arch}`,
];

const FORMATS: [string, 'esm' | 'cjs', string][] = [
  ['an ES module', 'esm', 'program.mjs'],
  ['CommonJS', 'cjs', 'program.cjs'],
];

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
    // CommonJS has no `import.meta`; toolexec works without it.
    logOverride: { 'empty-import-meta': 'silent' },
    logLevel: 'error',
  });
  return place;
}

/** The output of the program: whether each call succeeded, its error, and whether it was recorded. */
async function run(place: string, name: string): Promise<unknown> {
  const { results, stderr } = await runWhole(place, name);
  expect(stderr).toBe('');
  return results;
}

async function runWhole(
  place: string,
  name: string,
): Promise<{ readonly results: unknown; readonly stderr: string }> {
  const root = mkdtempSync(join(folder, 'root-'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(place, name), root], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root },
  });
  return { results: JSON.parse(stdout), stderr };
}

describe('a program that was bundled with toolexec', () => {
  buildFirst();

  eachOf(FORMATS, 1)('as %s reads, writes, runs, searches and journals', async (_, format, name) => {
    const place = await bundled(format, name);
    for (const native of NATIVE)
      cpSync(join(ROOT, 'node_modules', native), join(place, 'node_modules', native), { recursive: true });
    const fine = [true, null, true];
    expect(await run(place, name)).toEqual([fine, fine, fine, fine]);
  });

  /** Puts the native packages next to the program, and changes its code like webpack. */
  async function rewritten(format: 'esm' | 'cjs', name: string, change: (code: string) => string) {
    const place = await bundled(format, name);
    for (const native of NATIVE)
      cpSync(join(ROOT, 'node_modules', native), join(place, 'node_modules', native), { recursive: true });
    const code = readFileSync(join(place, name), 'utf8');
    const changed = change(code);
    expect(changed).not.toBe(code);
    writeFileSync(join(place, name), changed);
    return (await runWhole(place, name)).results;
  }
  const fine = [true, null, true];

  it('may import toolexec/langchain without LangGraph, which is optional (esbuild refused the bundle)', async () => {
    const source = mkdtempSync(join(folder, 'source-'));
    mkdirSync(join(source, 'node_modules'));
    symlinkSync(dirname(dirname(dirname(builtCommand()))), join(source, 'node_modules', 'toolexec'));
    const contents = "export { langchainTools } from 'toolexec/langchain';\n";
    const { errors, outputFiles } = await build({
      stdin: { contents, resolveDir: source },
      ...{ bundle: true, platform: 'node', format: 'esm', write: false, logLevel: 'silent' },
      // Otherwise the packages of the repository would be found too.
      preserveSymlinks: true,
      external: ['@langchain/core/*'],
    });
    expect(errors).toEqual([]);
    expect(outputFiles?.[0]?.text).toContain('import("@langchain/langgraph")');
  });

  it('may be CommonJS with the doors of the frameworks (esbuild refused their top-level await)', async () => {
    const source = mkdtempSync(join(folder, 'source-'));
    mkdirSync(join(source, 'node_modules'));
    symlinkSync(dirname(dirname(dirname(builtCommand()))), join(source, 'node_modules', 'toolexec'));
    const doors = ['ai-sdk', 'claude-agent', 'langchain', 'openai-agents', 'otel'];
    const contents = doors.map((door) => `export * from 'toolexec/${door}';\n`).join('');
    const { errors } = await build({
      stdin: { contents, resolveDir: source },
      ...{ bundle: true, platform: 'node', format: 'cjs', write: false, logLevel: 'silent' },
      preserveSymlinks: true,
      external: ['ai', '@langchain/*', '@modelcontextprotocol/*', '@openai/agents', '@opentelemetry/api'],
    });
    expect(errors).toEqual([]);
  });

  it('searches where webpack has replaced `import()` of an expression (it found no search program)', async () => {
    const context = '\nfunction emptyContext() { return Promise.reject(new Error("Cannot find module")); }\n';
    const change = (code: string): string => code.replace(/\bimport\((?=\(0, )/g, 'emptyContext(') + context;
    expect(await rewritten('cjs', 'program.cjs', change)).toEqual([fine, fine, fine, fine]);
  });

  it('journals as an ES module of webpack, which holds the place of its source and no __filename', async () => {
    const change = (code: string): string => {
      expect(code).not.toContain('typeof __filename');
      return code.replaceAll('import.meta.url', '"file:///gone/part.js"');
    };
    expect(await rewritten('esm', 'program.mjs', change)).toEqual([fine, fine, fine, fine]);
  });

  it('journals where Turbopack has replaced __filename by a path that is nowhere (Next.js recorded nothing)', async () => {
    const change = (code: string): string =>
      code
        .replaceAll('return __filename', 'return "/ROOT/node_modules/toolexec/dist/part.js"')
        .replaceAll('import.meta.url', '"file:///gone/part.js"');
    expect(await rewritten('esm', 'program.mjs', change)).toEqual([fine, fine, fine, fine]);
  });

  it.skipIf(isSafeSqlite(process.versions.sqlite))(
    'says which package is missing when it was deployed without it (skipped where Node brings SQLite)',
    async () => {
      const place = await bundled('esm', 'program.mjs');
      const { results, stderr } = await runWhole(place, 'program.mjs');
      expect(JSON.stringify(results)).toContain('Cannot load SQLite from @photostructure/sqlite');
      expect(stderr).toMatch(
        /^toolexec: nothing new is run: Cannot load SQLite from @photostructure\/sqlite: [^\n]+\n$/,
      );
    },
  );
});

const EVALUATED = `
import('toolexec').then(async ({ createExecutor, builtinTools }) => {
  const root = process.env.PLACE;
  const executor = createExecutor({ root, journal: process.env.JOURNAL, tools: builtinTools() });
  const [result] = await executor.run([{ id: '1', name: 'list_directory', args: { path: '.' } }]);
  console.log(JSON.stringify([result.success, result.error?.hint ?? null]));
  await executor.close();
});
`;

describe('a program without a file', () => {
  buildFirst();

  /** The output, in a directory where `toolexec` is installed as in any project. */
  async function evaluate(args: readonly string[]): Promise<unknown> {
    const project = mkdtempSync(join(folder, 'project-'));
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(dirname(dirname(dirname(builtCommand()))), join(project, 'node_modules', 'toolexec'));
    const env = {
      PATH: process.env.PATH,
      HOME: project,
      PLACE: project,
      JOURNAL: join(folder, 'evaluated.db'),
    };
    rmSync(env.JOURNAL, { force: true });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: project, env });
    expect(stderr).toBe('');
    expect(readFileSync(env.JOURNAL, 'latin1').startsWith('SQLite format 3')).toBe(true);
    return JSON.parse(stdout);
  }

  it('journals in `node -e`', { tags: ['soak'] }, async () => {
    expect(await evaluate(['-e', EVALUATED])).toEqual([true, null]);
    expect(await evaluate(['--input-type=module', '-e', EVALUATED])).toEqual([true, null]);
  });

  it('journals in a worker of `eval: true`', { tags: ['soak'] }, async () => {
    const start = `new (require('node:worker_threads').Worker)(${JSON.stringify(EVALUATED)}, { eval: true })`;
    expect(await evaluate(['-e', start])).toEqual([true, null]);
  });

  it('journals as a bundle that a worker evaluates, in a project that has the packages', async () => {
    const place = await bundled('cjs', 'program.cjs');
    for (const native of NATIVE)
      cpSync(join(ROOT, 'node_modules', native), join(place, 'node_modules', native), { recursive: true });
    const start = `
      const code = require('node:fs').readFileSync('program.cjs', 'utf8');
      new (require('node:worker_threads').Worker)(code, { eval: true, argv: [process.env.HOME] })`;
    const root = mkdtempSync(join(folder, 'root-'));
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', start], {
      cwd: place,
      env: { PATH: process.env.PATH, HOME: root },
    });
    const fine = [true, null, true];
    expect(JSON.parse(stdout)).toEqual([fine, fine, fine, fine]);
  });
});

it('leaves webpack nothing to replace: it puts `undefined` in the place of a `createRequire` that is imported by name', () => {
  const built = dirname(dirname(builtCommand()));
  const files = readdirSync(built).filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(8);
  for (const name of files) {
    expect(readFileSync(join(built, name), 'utf8'), name).not.toMatch(/import\s*\{[^}]*\bcreateRequire\b/);
  }
});
