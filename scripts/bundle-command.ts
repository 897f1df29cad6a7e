import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import { licensesOf } from './licenses-of.js';
import { bundlePackages, loadOnFirstUse } from './load-on-first-use.js';

/** Of modules and of classes as they are written, so that a stack can be read. */
const MINIFIED = { minifyWhitespace: true, minifySyntax: true, legalComments: 'none' } as const;
const NODE = { platform: 'node', target: 'node20.19' } as const;

export interface CommandBundle {
  /** The source of the command. */
  readonly main: string;
  readonly directory: string;
  /** Packages that stay packages of their own. */
  readonly external: readonly string[];
  readonly plugins: readonly Plugin[];
}

/**
 * Makes a few files of the command and of all that it loads: opening and linking hundreds of modules takes longer than
 * what they do. What is imported dynamically stays apart, and is loaded when it is needed. They are CommonJS, because
 * Node starts its other loader only when it is needed, which costs a quarter of its own start.
 * @returns the file to run.
 */
export async function bundleCommand(command: CommandBundle): Promise<string> {
  const { main, directory, external, plugins } = command;
  // Only ES modules are split in parts: each part is turned into CommonJS afterwards.
  const { outputFiles, metafile } = await build({
    ...NODE,
    ...MINIFIED,
    entryPoints: { toolexec: main },
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...external],
    plugins: [...plugins, loadOnFirstUse('beside'), shortDescription, lazyChildProcess],
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  mkdirSync(directory, { recursive: true });
  const parts = outputFiles.map(({ path }) => basename(path));
  for (const { path, text } of outputFiles) writeFileSync(path, await toCommonJs(text, parts));
  const packages = await bundlePackages(directory, { ...NODE, ...MINIFIED });
  writeFileSync(join(directory, 'LICENSES.txt'), licensesOf([metafile, ...packages]));
  return join(directory, 'toolexec.cjs');
}

async function toCommonJs(text: string, parts: readonly string[]): Promise<string> {
  const { code } = await transform(text, { ...NODE, ...MINIFIED, format: 'cjs', logLevel: 'error' });
  // Other dynamic imports, of files that a person names, stay what they are.
  return parts.reduce(
    (whole, part) =>
      whole.replaceAll(`import("./${part}")`, `Promise.resolve().then(()=>require("./${part}"))`),
    code,
  );
}

/** Of our own package.json the command needs the version alone. */
const shortDescription: Plugin = {
  name: 'short-description',
  setup({ onLoad }) {
    onLoad({ filter: /\/package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};

/** commander loads it for subcommands that are programs of their own, of which there are none: 3 ms of each start. */
const lazyChildProcess: Plugin = {
  name: 'lazy-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer }) =>
      importer.includes('/node_modules/commander/') ? { path: 'spawn', namespace: 'lazy' } : undefined,
    );
    onLoad({ filter: /^spawn$/, namespace: 'lazy' }, () => ({
      contents: `exports.spawn = (...args) => require('node:child_process').spawn(...args);`,
    }));
  },
};
