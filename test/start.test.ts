import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCommand } from './cli/built-command.js';

const folder = mkdtempSync(join(tmpdir(), 'toolexec-start-'));
let dist = '';
beforeAll(() => {
  dist = dirname(dirname(builtCommand()));
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Reports each loaded ES module, one per line on standard error. */
const HOOK = `
  import { writeSync } from 'node:fs';
  export function load(url, context, next) {
    writeSync(2, 'loaded ' + url + '\\n');
    return next(url, context);
  }
`;

interface Loaded {
  /** Our sources, in the form `executor/run-batch`. */
  readonly own: readonly string[];
  readonly packages: readonly string[];
  /** Modules of Node's own. */
  readonly builtins: readonly string[];
}

/** The modules that a program has loaded by its end, after an import of the built package. */
function loadedBy(program: string): Loaded {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const file = join(folder, 'program.mjs');
  const body = [
    "import { register } from 'node:module';",
    `register(${JSON.stringify(hook)});`,
    `const { createExecutor, defineTool } = await import(${JSON.stringify(pathToFileURL(join(dist, 'index.js')).href)});`,
    program,
    "for (const name of process.moduleLoadList) process.stderr.write('builtin ' + name + '\\n');",
  ];
  writeFileSync(file, body.join('\n'));
  const { status, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const files = [...stderr.matchAll(/^loaded (file:.+)$/gm)].map(([, url = '']) => fileURLToPath(url));
  // The source map of a file names its sources.
  const sources = files
    .filter((path) => path !== file)
    .flatMap((path): string[] => JSON.parse(readFileSync(`${path}.map`, 'utf8')).sources)
    .join('\n');
  const all = (pattern: RegExp, where: string): string[] =>
    [...new Set([...where.matchAll(pattern)].map(([, found = '']) => found))].sort();
  return {
    own: all(/\/src\/(.+)\.ts$/gm, sources),
    packages: all(/\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm, sources),
    builtins: all(/^builtin NativeModule (.+)$/gm, stderr),
  };
}

const TOOL = `defineTool({ name: 'own', description: '', input: { type: 'object' }, execute: () => '' })`;

function expectNothingHeavy({ own, packages, builtins }: Loaded): void {
  expect(own.length).toBeGreaterThan(50);
  expect(own.filter((path) => /analyze-command|commands\/run-command$/.test(path))).toEqual([]);
  expect(packages).not.toContain('unbash');
  expect(builtins).not.toContain('sqlite');
  expect(builtins).not.toContain('child_process');
}

describe('a program that imports toolexec', () => {
  it('loads neither the analysis of commands, nor SQLite, nor child processes', () => {
    expectNothingHeavy(loadedBy(''));
  });

  it('loads none of them to check schemas, to run calls of its own tools, and to read a file', () => {
    expectNothingHeavy(
      loadedBy(`
        const executor = createExecutor({ root: '.', tools: undefined });
        const own = createExecutor({ root: '.', tools: [${TOOL}] });
        const [result] = await executor.run([{ id: '1', name: 'read_file', args: { path: 'program.mjs' } }]);
        if (!result.success) throw new Error(result.error.message);
        await own.run([{ id: '1', name: 'own', args: {} }]);
        await executor.close();
        await own.close();
      `),
    );
  });

  it('loads them when they are needed', () => {
    const { own, packages, builtins } = loadedBy(`
      const executor = createExecutor({ root: '.', journal: 'journal.db', approver: null });
      const [result] = await executor.run([{ id: '1', name: 'bash', args: { command: 'true' } }]);
      if (!result.success) throw new Error(result.error.message);
      await executor.close();
    `);
    expect(own).toContain('commands/run-command');
    expect(packages).toContain('unbash');
    expect(builtins).toContain('child_process');
  });
});
