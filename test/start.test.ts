import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const SRC = pathToFileURL(resolve(import.meta.dirname, '..', 'src')).href;
const TSX = import.meta.resolve('tsx');
const folder = mkdtempSync(join(tmpdir(), 'toolexec-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Tells every ES module that is loaded, a line each on standard error. */
const HOOK = `
  import { writeSync } from 'node:fs';
  export function load(url, context, next) {
    writeSync(2, 'loaded ' + url + '\\n');
    return next(url, context);
  }
`;

interface Loaded {
  /** Paths below `src/`, without the ending. */
  readonly own: readonly string[];
  /** Packages, however they were loaded. */
  readonly packages: readonly string[];
}

/** What a program has loaded when it is at its end. */
function loadedBy(program: string): Loaded {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const file = join(folder, 'program.mts');
  const body = [
    "import Module, { register } from 'node:module';",
    `register(${JSON.stringify(hook)});`,
    `const { createExecutor, defineTool } = await import('${SRC}/index.ts');`,
    program,
    "for (const path of Object.keys((Module as never)['_cache'])) process.stderr.write('loaded ' + path + '\\n');",
  ];
  writeFileSync(file, body.join('\n'));
  const { status, stderr } = spawnSync(process.execPath, ['--import', TSX, file], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  const urls = [...stderr.matchAll(/^loaded (.+)$/gm)].map(([, url = '']) => url);
  const parts = (pattern: RegExp): string[] =>
    [...new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? []))].sort();
  return {
    own: parts(new RegExp(`^${SRC}/(.+)\\.ts`)),
    packages: parts(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//).filter((name) => !OF_TSX.has(name)),
  };
}

const OF_TSX = new Set(['tsx', 'esbuild', 'get-tsconfig', 'resolve-pkg-maps']);

const READY = `const executor = createExecutor({ root: '.' });`;
const TOOL = `defineTool({ name: 'own', description: '', input: { type: 'object' }, execute: () => '' })`;

describe('a program that imports toolexec', () => {
  it('loads what can be asked for at once, and no more', () => {
    const { own, packages } = loadedBy('');
    // Each takes a millisecond. What is asked for later belongs behind an import() of its own.
    expect(own.length).toBeLessThan(120);
    expect(own.length).toBeGreaterThan(50);
    expect(packages).toEqual(['canonicalize']);
  });

  it('loads nothing more to make an executor and to show its tools', () => {
    const ready = loadedBy(`${READY} if (executor.definitions().length === 0) process.exit(1);`);
    expect(ready).toEqual(loadedBy(''));
  });

  it('loads the validator with the first schema of its own', () => {
    const { packages } = loadedBy(`createExecutor({ root: '.', tools: [${TOOL}] });`);
    expect(packages).toContain('ajv');
    expect(packages).not.toContain('minimatch');
  });

  it('loads what runs calls with the first call, of the tools those that run, and no commands', () => {
    const { own, packages } = loadedBy(`
      ${READY}
      const [result] = await executor.run([{ id: '1', name: 'read_file', args: { path: 'program.mts' } }]);
      if (!result.success) throw new Error(result.error.message);
      await executor.close();
    `);
    expect(own).toContain('executor/run-batch');
    expect(own).toContain('tools/read-file/read-file');
    expect(own).not.toContain('tools/edit-file/edit-file');
    expect(own.filter((path) => path.startsWith('search/'))).toEqual([]);
    expect(own).not.toContain('process/run-command');
    expect(own).not.toContain('policy/command/analyze-command');
    expect(packages).not.toContain('@photostructure/sqlite');
    expect(packages).not.toContain('minimatch');
  });
});
