import { resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { build, type Plugin } from 'esbuild';
import { attachedCommandTool } from '../src/cli/attached-command.js';
import { builtinTools } from '../src/executor/builtin-tools.js';
import { compiledTool } from '../src/executor/declare/compiled-tool.js';
import { toAjvSchema } from '../src/schema/json-validator.js';

const ROOT = resolve(import.meta.dirname, '..');
const HEADER =
  '/* Compiled from the schemas of the built-in tools by ajv (MIT licence); see scripts/compile-validators.ts. */';

/**
 * Validators of our own tools, so that their schemas are not compiled at run time: the schemas beside the tools stay the
 * only place where they are written.
 * @returns one ES module without imports that exports `READY_MADE`
 */
export function compiledValidators(): Promise<string> {
  return joined(validatorSources());
}

function validatorSources(): readonly Source[] {
  const attached = attachedCommandTool({ name: 'bash', attached: { kind: 'streams', isAttended: false } });
  const schemas = [...builtinTools(), attached].map((tool) => compiledTool(tool).inputSchema());
  return schemas.map((schema) => ({ text: JSON.stringify(schema), code: sourceOf(toAjvSchema(schema)) }));
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
