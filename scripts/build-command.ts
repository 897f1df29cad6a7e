import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleCommand } from './bundle-command.js';
import { compileValidators } from './compile-validators.js';

/*
 * Finishes a build, in `dist/` or in the directory that is named: compiles the schemas of the built-in tools, and bundles
 * the command, `cli/` into `command/`.
 */

const dist = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'dist'));
await compileValidators(dist);
const file = await bundleCommand({ main: join(dist, 'cli', 'main.js'), directory: join(dist, 'command') });
chmodSync(file, 0o755);
