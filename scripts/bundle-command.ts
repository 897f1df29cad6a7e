import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
 * Bundles the command into `toolexec.cjs` and its parts. What is imported dynamically stays a part of its own and is
 * loaded when it is needed. The parts are CommonJS, because Node starts its other loader only when it is needed, which
 * costs a quarter of its own start. Functions and classes keep their names, so that a stack can be read.
 */
export async function bundleCommand(command: CommandBundle): Promise<void> {
  const { program, directory, external, replaced } = command;
  const bundle = await rolldown({
    input: { toolexec: program },
    platform: 'node',
    transform: { target: 'node20.19' },
    external: [...external],
    checks: { pluginTimings: false },
    plugins: [
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
