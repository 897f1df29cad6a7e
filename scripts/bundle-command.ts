import * as childProcess from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { lateValidators } from './compile-validators.js';
import { type JoinedFile, joinParts } from './join-parts.js';
import { licensesOf } from './licenses-of.js';
import { LATE_MODULES, loadLate } from './load-late.js';
import { bundlePackages, loadOnFirstUse } from './load-on-first-use.js';

/** Of modules and of classes as they are written, so that a stack can be read. */
const MINIFIED = { minifyWhitespace: true, minifySyntax: true, legalComments: 'none' } as const;
const NODE = { platform: 'node', target: 'node20.19' } as const;

/** The files that commands share: help needs the first, what shows settings the second, what reads a journal the third. */
const TOGETHER: readonly JoinedFile[] = [
  { name: 'start.cjs', sources: ['src/cli/main.ts'] },
  { name: 'settings.cjs', sources: ['src/cli/commands/config/show.ts'] },
  { name: 'journal.cjs', sources: ['src/cli/commands/journal/list.ts'] },
  { name: 'executor.cjs', sources: ['src/cli/commands/run.ts'] },
];

export interface CommandBundle {
  /** The source of the file to run, which loads the command. */
  readonly launcher: string;
  /** The source of the command. */
  readonly main: string;
  readonly directory: string;
  /** Packages that stay packages of their own. */
  readonly external: readonly string[];
}

/**
 * Makes a few files of the command and of all that it loads: opening and linking hundreds of modules takes longer than
 * what they do. What is imported dynamically stays apart, and is loaded when it is needed. They are CommonJS, because
 * Node starts its other loader only when it is needed, which costs a quarter of its own start.
 * @returns the file to run.
 */
export async function bundleCommand(command: CommandBundle): Promise<string> {
  const { launcher, main, directory, external } = command;
  const validators = lateValidators();
  // Only ES modules are split in parts: each part is turned into CommonJS afterwards.
  const { outputFiles, metafile } = await build({
    ...NODE,
    ...MINIFIED,
    entryPoints: { main, ...LATE_MODULES, ...validators.entryPoints },
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...external],
    plugins: [validators.plugin, loadOnFirstUse(), loadLate, shortDescription, lazyChildProcess],
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  mkdirSync(directory, { recursive: true });
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const files = await joinParts({ texts, metafile, directory }, TOGETHER, {
    ...NODE,
    ...MINIFIED,
    format: 'cjs',
  });
  const packages = await bundlePackages(NODE);
  for (const [name, text] of [...files, ...packages.texts])
    writeFileSync(join(directory, name), withRequires(text));
  writeFileSync(join(directory, 'LICENSES.txt'), licensesOf([metafile, ...packages.metafiles]));
  return bundleLauncher(launcher, directory);
}

/** What is imported dynamically is loaded when it is needed. What a person names, a configuration as a module, stays. */
function withRequires(text: string): string {
  return text.replaceAll(/import\("(\.\/[^"]+\.cjs)"\)/g, 'Promise.resolve().then(()=>require("$1"))');
}

/** What loads the others. */
async function bundleLauncher(source: string, directory: string): Promise<string> {
  const outfile = join(directory, 'toolexec.cjs');
  await build({
    ...NODE,
    ...MINIFIED,
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'cjs',
    external: ['./main.cjs'],
    logLevel: 'error',
  });
  return outfile;
}

/** Of our own package.json the version alone is needed. */
export const shortDescription: Plugin = {
  name: 'short-description',
  setup({ onLoad }) {
    onLoad({ filter: /\/package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** It brings half of the network along, and most runs start no process: 1 ms of each start, 3 ms of help. */
const lazyChildProcess: Plugin = {
  name: 'lazy-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ path, namespace }) =>
      namespace === 'lazy' ? { path, external: true } : { path, namespace: 'lazy' },
    );
    onLoad({ filter: /^/, namespace: 'lazy' }, () => {
      const names = Object.keys(childProcess).filter((name) => /^\w+$/.test(name) && name !== 'default');
      const properties = names.map(
        (name) => `get ${name}() { return require('node:child_process').${name}; }`,
      );
      return { contents: `module.exports = { ${properties.join(', ')} };` };
    });
  },
};
