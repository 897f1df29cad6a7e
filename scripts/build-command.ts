import { chmodSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleCommand } from './bundle-command.js';

/* Bundles the command of a finished build: `cli/` into `command/`, in `dist/` or in the directory that is named. */

const dist = resolve(process.argv[2] ?? join(import.meta.dirname, '..', 'dist'));
const file = await bundleCommand({ main: join(dist, 'cli', 'main.js'), directory: join(dist, 'command') });
chmodSync(file, 0o755);
