import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Metafile, type Plugin } from 'esbuild';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { bundleCommand } from './bundle-command.js';
import { licensesOf } from './licenses-of.js';
import { replacedModules } from './replaced-modules.js';

/*
 * Builds the package into `dist/`, or into the directory of `--out`:
 *   *.js, part-*.js     the library as a few ES modules, with source maps; a door is one file of `src/*.ts`
 *   direct/             doors for bundlers and for `require`
 *   *.d.ts              its declarations (not with `--no-types`)
 *   command/            the command
 *   LICENSES.txt        of the packages that are bundled into the library
 */

const ROOT = resolve(import.meta.dirname, '..');
const SOURCES = join(ROOT, 'src');

/** They bring binaries along, which they look for beside themselves. `platform/runtime/installed-package.ts` loads them. */
const EXTERNAL = ['@photostructure/sqlite', '@vscode/ripgrep'];

/**
 * Each is for one door, and the program that uses the door installs it: see `peerDependencies`. The command
 * bundles them.
 */
const PEERS = [
  '@langchain/*',
  '@mastra/core/*',
  '@modelcontextprotocol/*',
  '@openai/agents',
  '@opentelemetry/api',
  'ai',
  'aws4fetch',
  'graphile-worker',
  'pg',
  'pg-boss',
];

const { values } = parseArgs({ options: { out: { type: 'string' }, 'no-types': { type: 'boolean' } } });
const out = resolve(values.out ?? join(ROOT, 'dist'));
const doors = Object.fromEntries(
  readdirSync(SOURCES)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name.slice(0, -'.ts'.length), join(SOURCES, name)]),
);

/**
 * These doors wait for a package that the user installs, to name it if it is missing. A module that waits cannot be
 * required, nor bundled as CommonJS; the modules behind the doors can.
 */
const DIRECT: Readonly<Record<string, string>> = {
  'ai-sdk': 'hosts/ai-sdk.ts',
  'claude-agent': 'hosts/claude-agent.ts',
  langchain: 'hosts/langchain.ts',
  'openai-agents': 'hosts/openai-agents.ts',
  otel: 'telemetry/otel.ts',
};
const direct = Object.fromEntries(
  Object.entries(DIRECT).map(([door, source]) => [`direct/${door}`, join(SOURCES, source)]),
);
const replaced = await replacedModules();
const withReplaced: Plugin = {
  name: 'replaced-modules',
  setup({ onLoad }) {
    onLoad({ filter: /./ }, ({ path }) => {
      const module = replaced(path);
      return module && { contents: module.code, loader: module.type };
    });
  },
};

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'LICENSES.txt'), licensesOf(await bundleLibrary()));
await bundleCommand({
  program: join(SOURCES, 'cli', 'launch.ts'),
  directory: join(out, 'command'),
  external: EXTERNAL,
  replaced,
});
if (values['no-types'] !== true) await bundleDeclarations();

/**
 * Opening and linking hundreds of modules takes longer than running them. A dynamically imported module stays
 * a separate part, and is loaded when it is needed. Names are kept, so that stack traces are readable.
 * @returns the files that the bundle was made of
 */
async function bundleLibrary(): Promise<readonly string[]> {
  const { metafile } = await build({
    platform: 'node',
    target: 'node20.19',
    minifyWhitespace: true,
    // Node shows the line of an error that is not caught.
    lineLimit: 120,
    legalComments: 'none',
    // A trial starts this program, and looks for it beside itself.
    entryPoints: { ...doors, ...direct, 'crash-program': join(SOURCES, 'testing', 'crash-program.ts') },
    outdir: out,
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    external: [...EXTERNAL, ...PEERS],
    plugins: [withReplaced],
    sourcemap: 'linked',
    metafile: true,
    logLevel: 'error',
  });
  assertNothingRequired(metafile);
  return Object.keys(metafile.inputs);
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
