import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Metafile } from 'esbuild';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundleCommand, shortDescription } from './bundle-command.js';
import { compiledValidators } from './compile-validators.js';
import { type JoinedFile, joinParts } from './join-parts.js';
import { licensesOf } from './licenses-of.js';
import { bundlePackages, loadOnFirstUse } from './load-on-first-use.js';

/*
 * Builds the package into `dist/`, or into the directory of `--out`:
 *   *.js, part-*.js     the library as a few ES modules, with source maps; a door is one file of `src/*.ts`
 *   *.d.ts              its declarations (not with `--no-types`)
 *   command/            the command
 *   LICENSES.txt        of the packages that are bundled into the library
 */

const ROOT = resolve(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'src');

/** They bring binaries along, which they look for beside themselves. `platform/runtime/installed-package.ts` loads them. */
const EXTERNAL = ['@photostructure/sqlite', '@vscode/ripgrep'];

/** Programs bring them along, each for a door of its own: see `peerDependencies`. The command has them inside. */
const PEERS = ['@modelcontextprotocol/*'];

const NODE = {
  platform: 'node',
  target: 'node20.19',
  minifyWhitespace: true,
  // Node shows the line of an error that is not caught.
  lineLimit: 120,
  legalComments: 'none',
} as const;

const LARGEST_DOOR = 'src/index.ts';
const SMALLER_DOORS = ['lp1', 'models', 'output', 'policy', 'process', 'protocols', 'sandbox'].map(
  (door) => `src/${door}.ts`,
);
const TOGETHER: readonly JoinedFile[] = [
  { name: 'part-shared.js', sources: SMALLER_DOORS, neededBy: LARGEST_DOOR },
  { name: 'part-executor.js', sources: [LARGEST_DOOR] },
];

const { values } = parseArgs({ options: { out: { type: 'string' }, 'no-types': { type: 'boolean' } } });
const out = resolve(values.out ?? join(ROOT, 'dist'));
const doors = Object.fromEntries(
  readdirSync(SOURCES)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name.slice(0, -'.ts'.length), join(SOURCES, name)]),
);
const validators = await compiledValidators();

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'LICENSES.txt'), licensesOf(await bundleLibrary()));
const command = await bundleCommand({
  launcher: join(SOURCES, 'cli', 'launch.ts'),
  main: join(SOURCES, 'cli', 'main.ts'),
  directory: join(out, 'command'),
  external: EXTERNAL,
});
chmodSync(command, 0o755);
if (values['no-types'] !== true) await bundleDeclarations();

/**
 * Opening and linking hundreds of modules takes longer than what they do. What is imported dynamically stays a part of
 * its own and is loaded when it is needed. Names stay as they are written, so that a stack can be read.
 */
async function bundleLibrary(): Promise<readonly Metafile[]> {
  const packages = await bundlePackages({ platform: NODE.platform, target: NODE.target });
  const { outputFiles, metafile } = await build({
    ...NODE,
    // A trial starts this program, and looks for it beside itself.
    entryPoints: { ...doors, 'crash-program': join(SOURCES, 'testing', 'crash-program.ts') },
    outdir: out,
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...EXTERNAL, ...PEERS],
    plugins: [validators, loadOnFirstUse(packages), shortDescription],
    sourcemap: 'inline',
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  assertNothingRequired(metafile);
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const files = await joinParts({ texts, metafile, directory: out }, TOGETHER, {
    ...NODE,
    format: 'esm',
    sourcemap: 'linked',
  });
  for (const [name, text] of files) writeFileSync(join(out, name), text);
  return [metafile, ...packages.metafiles];
}

/** An ES module has no `require`: esbuild puts one that throws in its place. */
function assertNothingRequired({ outputs }: Metafile): void {
  for (const [file, { imports }] of Object.entries(outputs)) {
    const required = imports.find(({ kind, external }) => kind === 'require-call' && external === true);
    if (required !== undefined) throw new Error(`Cannot load "${required.path}" from ${file}: import it.`);
  }
}

async function bundleDeclarations(): Promise<void> {
  const bundle = await rolldown({
    input: doors,
    platform: 'node',
    checks: { pluginTimings: false },
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    plugins: [dts({ tsconfig: join(ROOT, 'tsconfig.build.json'), emitDtsOnly: true })],
  });
  await bundle.write({ dir: out, format: 'esm', chunkFileNames: 'types-[hash].js' });
  await bundle.close();
}
