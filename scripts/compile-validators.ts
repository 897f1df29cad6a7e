import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { build, type Plugin } from 'esbuild';

type Preset = typeof import('../src/executor/builtin-tools.js');
type Compiled = typeof import('../src/executor/declare/compiled-tool.js');
type JsonValidators = typeof import('../src/schema/json-validator.js');

const ROOT = resolve(import.meta.dirname, '..');
const HEADER =
  '/* Compiled from the schemas of the built-in tools by ajv (MIT licence); see scripts/compile-validators.ts. */';

/**
 * Puts validators of the built-in tools into a finished build, so that their calls are checked without loading ajv:
 * the schemas in `tools/` stay the only place where they are written.
 * @param dist where the build is.
 */
export async function compileValidators(dist: string): Promise<void> {
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(dist, path)).href);
  const { builtinTools } = (await load('executor/builtin-tools.js')) as Preset;
  const { compiledTool } = (await load('executor/declare/compiled-tool.js')) as Compiled;
  const { toAjvSchema } = (await load('schema/json-validator.js')) as JsonValidators;
  const schemas = builtinTools().map((tool) => compiledTool(tool).inputSchema());
  const sources = schemas.map((schema) => ({
    text: JSON.stringify(schema),
    code: sourceOf(toAjvSchema(schema)),
  }));
  writeFileSync(join(dist, 'schema', 'ready-made.js'), await joined(sources));
}

interface Source {
  readonly text: string;
  /** A module whose default export is the validator. */
  readonly code: string;
}

function sourceOf(schema: object): string {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    code: { source: true, esm: true, lines: false },
  });
  return standalone.default(ajv, ajv.compile(schema));
}

/** One module without imports: what ajv's code asks of ajv at run time is a function or two. */
async function joined(sources: readonly Source[]): Promise<string> {
  const imports = sources.map((_, index) => `import v${index} from 'validator:${index}';`);
  const entries = sources.map(({ text }, index) => `${JSON.stringify(text)}: v${index},`);
  const { outputFiles } = await build({
    stdin: {
      contents: [...imports, `export const READY_MADE = {${entries.join('\n')}};`].join('\n'),
      resolveDir: ROOT,
    },
    plugins: [validatorsOf(sources)],
    banner: { js: HEADER },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

function validatorsOf(sources: readonly Source[]): Plugin {
  return {
    name: 'validators',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^validator:/ }, ({ path }) => ({ path, namespace: 'validator' }));
      onLoad({ filter: /./, namespace: 'validator' }, ({ path }) => ({
        contents: sources[Number(path.slice('validator:'.length))]?.code ?? '',
        resolveDir: ROOT,
      }));
    },
  };
}
