// Removes build output; a plain `rm -rf` does not exist on every system.
import { rmSync } from 'node:fs';

for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true });
