import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { type BuildResult, build, type Plugin, transform } from 'esbuild';

/**
 * Stay packages of their own: they bring binaries along, which they look for beside themselves; or are seldom needed, and
 * then late: ajv, where arguments are refused and it is said why.
 */
const EXTERNAL = ['@photostructure/sqlite', '@vscode/ripgrep', 'ajv', 'ajv-formats', 're2js'];

/** Of modules and of classes as they are written, so that a stack can be read. */
const MINIFIED = { minifyWhitespace: true, minifySyntax: true, legalComments: 'none' } as const;
const NODE = { platform: 'node', target: 'node20.19' } as const;

export interface CommandBundle {
  /** The built command, with everything it imports. */
  readonly main: string;
  /** Emptied first. */
  readonly directory: string;
}

/**
 * Makes a few files of the command and of all that it loads: opening and linking 300 modules takes longer than what
 * they do. What is imported dynamically stays apart, and is loaded when it is needed. They are CommonJS, because Node
 * starts its other loader only when somebody needs it, which costs a quarter of its own start.
 * @returns the file to run.
 */
export async function bundleCommand({ main, directory }: CommandBundle): Promise<string> {
  // Split in parts is only what is an ES module: each part is turned into CommonJS afterwards.
  const { outputFiles, metafile } = await build({
    ...NODE,
    ...MINIFIED,
    entryPoints: { toolexec: main },
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    external: EXTERNAL,
    plugins: [visibleRequires(dirname(dirname(main))), shortDescription, lazyChildProcess],
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const parts = outputFiles.map(({ path }) => basename(path));
  for (const { path, text } of outputFiles) writeFileSync(path, await toCommonJs(text, parts));
  writeFileSync(join(directory, 'LICENSES.txt'), collectLicenses(metafile));
  return join(directory, 'toolexec.cjs');
}

async function toCommonJs(text: string, parts: readonly string[]): Promise<string> {
  const { code } = await transform(text, {
    ...NODE,
    ...MINIFIED,
    format: 'cjs',
    define: { 'import.meta.url': '__filename' },
  });
  // Other dynamic imports, of files that a person names, stay what they are.
  return parts.reduce(
    (whole, part) =>
      whole.replaceAll(`import("./${part}")`, `Promise.resolve().then(()=>require("./${part}"))`),
    code,
  );
}

/**
 * Our own modules load what is large with a `require` that they make themselves, which a bundler cannot follow. Paths
 * that are put together from a module's own place would lead nowhere in a bundle.
 */
function visibleRequires(folder: string): Plugin {
  return {
    name: 'visible-requires',
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (relative(folder, path).startsWith('..')) return undefined;
        const contents = readFileSync(path, 'utf8')
          .replace(/^const require = createRequire\(import\.meta\.url\);$/m, '')
          .replaceAll('createRequire(import.meta.url)(', 'require(');
        if (/new URL\([^)]*import\.meta|import\.meta\.(?!url)/.test(contents))
          return {
            errors: [{ text: `${path} looks for a file beside itself, and would not find it in a bundle.` }],
          };
        return { contents, loader: 'js' };
      });
    },
  };
}

/** Our own package.json without what only its development needs. */
const shortDescription: Plugin = {
  name: 'short-description',
  setup({ onLoad }) {
    onLoad({ filter: /\/package\.json$/ }, ({ path }) => {
      const { scripts: _, devDependencies: __, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify(rest), loader: 'json' };
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

/** The licences of the packages that are in the bundle, each of which asks to go along with the code. */
function collectLicenses({ inputs }: NonNullable<BuildResult['metafile']>): string {
  const packages = new Set<string>();
  for (const path of Object.keys(inputs)) {
    const [place] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (place !== undefined) packages.add(place);
  }
  return [...packages]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licenseOf(place: string): string {
  const file = readdirSync(place).find((name) => /^licen[cs]e/i.test(name));
  const { name, version, license }: { name: string; version: string; license: string } = JSON.parse(
    readFileSync(join(place, 'package.json'), 'utf8'),
  );
  if (file === undefined || !existsSync(join(place, file)))
    throw new Error(`Cannot bundle ${name}: it comes without its licence. Add it to EXTERNAL.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(place, file), 'utf8').trim()}\n`;
}
