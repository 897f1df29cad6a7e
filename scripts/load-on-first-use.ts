import { basename, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Large packages that many programs and most commands never use, with the names that we import: schemas of the built-in
 * tools are compiled already, and few patterns have to be matched in linear time. Reading and evaluating them at
 * start-up takes longer than our own code does. Those of one file use each other.
 */
const FILES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ajv: { ajv: ['Ajv'], 'ajv/dist/2020.js': ['Ajv2020'], 'ajv-formats': ['default'] },
  re2js: { re2js: ['RE2JS'] },
  'lru-cache': { 'lru-cache': ['LRUCache'] },
  semver: { semver: ['satisfies', 'valid', 'validRange'] },
  'smol-toml': { 'smol-toml': ['parse', 'stringify', 'TomlError'] },
};

const ALL = Object.values(FILES).flatMap((packages) => Object.entries(packages));

/** The packages as files, by the name of each. */
export interface PackageFiles {
  readonly texts: ReadonlyMap<string, string>;
  readonly metafiles: readonly Metafile[];
}

/** Their names are as short as can be: what is loaded has to be read, and these are not for debugging. */
export async function bundlePackages(options: BuildOptions): Promise<PackageFiles> {
  const bundles = Object.entries(FILES).map(async ([file, packages]) => {
    const contents = Object.keys(packages).map((name) => `exports['${name}'] = require('${name}');`);
    const { metafile, outputFiles } = await build({
      ...options,
      stdin: { contents: contents.join('\n'), resolveDir: ROOT },
      bundle: true,
      minify: true,
      format: 'cjs',
      write: false,
      metafile: true,
      logLevel: 'error',
    });
    return { metafile, name: `package-${file}.cjs`, text: outputFiles[0]?.text ?? '' };
  });
  const built = await Promise.all(bundles);
  return {
    texts: new Map(built.map(({ name, text }) => [name, text])),
    metafiles: built.map(({ metafile }) => metafile),
  };
}

/**
 * Where our sources import one of these packages, a property that loads it when it is first read.
 * @param inBundle the files to take into the bundle, where they are evaluated later. Undefined: they lie beside it, and are
 * read later.
 */
export function loadOnFirstUse(inBundle?: PackageFiles): Plugin {
  return {
    name: 'load-on-first-use',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[a-z]/ }, ({ path, importer }) =>
        importer.startsWith(resolve(ROOT, 'src')) && ALL.some(([name]) => name === path)
          ? { path, namespace: 'first-use' }
          : undefined,
      );
      // An ES module has no `require`, and the packages are CommonJS: what they need of Node is imported for them.
      onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        inBundle !== undefined && kind === 'require-call' ? { path, namespace: 'of-node' } : undefined,
      );
      onLoad({ filter: /^/, namespace: 'of-node' }, ({ path }) => ({ contents: `export * from '${path}';` }));
      onResolve({ filter: /^\.\/package-/, namespace: 'first-use' }, ({ path }) =>
        inBundle === undefined ? { path, external: true } : { path: basename(path), namespace: 'package' },
      );
      onLoad({ filter: /^/, namespace: 'first-use' }, ({ path }) => {
        const [, names = []] = ALL.find(([name]) => name === path) ?? [];
        const loaded = `require('./${fileOf(path)}')['${path}']`;
        const properties = names.map((name) => `get ${name}() { return ${loaded}.${name}; }`);
        return { contents: `module.exports = { ${properties.join(', ')} };` };
      });
      onLoad({ filter: /^/, namespace: 'package' }, ({ path }) => ({
        contents: inBundle?.texts.get(path) ?? '',
        resolveDir: ROOT,
      }));
    },
  };
}

function fileOf(path: string): string {
  const [file] = Object.entries(FILES).find(([, packages]) => path in packages) ?? [];
  return `package-${file}.cjs`;
}
