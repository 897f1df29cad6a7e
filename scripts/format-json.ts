import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const BIOME = join(import.meta.dirname, '..', 'node_modules', '.bin', 'biome');

/** A value as a JSON file of this repository: as the formatter leaves it, or the lint would not pass. */
export function formatJson(value: unknown): string {
  return execFileSync(BIOME, ['format', '--stdin-file-path=generated.json'], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
    input: JSON.stringify(value),
  });
}
