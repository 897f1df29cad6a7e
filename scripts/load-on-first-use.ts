import { resolve } from 'node:path';
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

/**
 * Where our sources import one of these packages, a property that loads it when it is first read.
 * @param where the package is: in the bundle, to be evaluated later; or in a CommonJS file beside it, to be read later
 */
export function loadOnFirstUse(where: 'in_bundle' | 'beside'): Plugin {
  return {
    name: 'load-on-first-use',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[a-z]/ }, ({ path, importer }) =>
        importer.startsWith(resolve(ROOT, 'src')) && ALL.some(([name]) => name === path)
          ? { path, namespace: 'first-use' }
          : undefined,
      );
      onResolve({ filter: /^\.\/package-/, namespace: 'first-use' }, ({ path }) => ({
        path,
        external: true,
      }));
      // An ES module has no `require`, and the packages are CommonJS: what they need of Node is imported for them.
      onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        where === 'in_bundle' && kind === 'require-call' ? { path, namespace: 'of-node' } : undefined,
      );
      onLoad({ filter: /^/, namespace: 'of-node' }, ({ path }) => ({ contents: `export * from '${path}';` }));
      onLoad({ filter: /^/, namespace: 'first-use' }, ({ path }) => {
        const [, names = []] = ALL.find(([name]) => name === path) ?? [];
        const loaded =
          where === 'in_bundle' ? `require('${path}')` : `require('./${fileOf(path)}')['${path}']`;
        const properties = names.map((name) => `get ${name}() { return ${loaded}.${name}; }`);
        const contents = `module.exports = { ${properties.join(', ')} };`;
        return { contents, resolveDir: ROOT };
      });
    },
  };
}

function fileOf(path: string): string {
  const [file] = Object.entries(FILES).find(([, packages]) => path in packages) ?? [];
  return `package-${file}.cjs`;
}

/** The files that a bundle asks for whose packages are `beside`. */
export function bundlePackages(directory: string, options: BuildOptions): Promise<readonly Metafile[]> {
  const bundles = Object.entries(FILES).map(async ([file, packages]) => {
    const names = Object.keys(packages);
    const { metafile } = await build({
      ...options,
      stdin: {
        contents: names.map((name) => `exports['${name}'] = require('${name}');`).join('\n'),
        resolveDir: ROOT,
      },
      outfile: resolve(directory, `package-${file}.cjs`),
      bundle: true,
      format: 'cjs',
      metafile: true,
      logLevel: 'error',
    });
    return metafile;
  });
  return Promise.all(bundles);
}
