import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { licensesOf } from './licenses-of.js';
import type { ReplacedModules } from './replaced-modules.js';

export interface CommandBundle {
  /** The source of the file to run. */
  readonly program: string;
  readonly directory: string;
  /** Packages that stay packages of their own. */
  readonly external: readonly string[];
  readonly replaced: ReplacedModules;
}

/**
 * Bundles the command into `toolexec.cjs` and its parts. A dynamically imported module stays a separate part,
 * and is loaded when it is needed. The parts are CommonJS, because Node starts its other loader only when it
 * is needed, which costs a quarter of Node's start. Functions and classes keep their names, so that stack
 * traces are readable.
 */
export async function bundleCommand(command: CommandBundle): Promise<void> {
  const { program, directory, external, replaced } = command;
  const bundle = await rolldown({
    input: { toolexec: program, ...largePackages(program) },
    platform: 'node',
    transform: { target: 'node20.19' },
    external: [...external],
    checks: { pluginTimings: false },
    plugins: [
      {
        name: 'large-packages',
        resolveId: (name, importer) =>
          importer !== undefined && basename(importer) === LARGE_PACKAGES
            ? { id: `./${fileOf(name)}.cjs`, external: true }
            : undefined,
      },
      {
        name: 'replaced-modules',
        load(id) {
          const module = replaced(id);
          return module && { code: module.code, moduleType: module.type };
        },
      },
    ],
  });
  const { output } = await bundle.write({
    dir: directory,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: { mangle: { keepNames: true }, compress: true, codegen: { removeWhitespace: true } },
    comments: false,
  });
  await bundle.close();
  const files = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  writeFileSync(join(directory, 'LICENSES.txt'), licensesOf(files));
  chmodSync(join(directory, 'toolexec.cjs'), 0o755);
}

/**
 * The packages that `base/large-packages.cjs` requires, by the names of the files that they become. As parts of the bundle, all of
 * them would be read with the first module that may use one of them.
 */
function largePackages(program: string): Readonly<Record<string, string>> {
  const source = readFileSync(join(dirname(program), '..', 'base', LARGE_PACKAGES), 'utf8');
  const names = [...source.matchAll(/require\('([^']+)'\)/g)].flatMap(([, name]) => name ?? []);
  return Object.fromEntries(names.map((name) => [fileOf(name), name]));
}

const LARGE_PACKAGES = 'large-packages.cjs';

function fileOf(packageName: string): string {
  return packageName.replaceAll(/\W+/g, '-');
}
