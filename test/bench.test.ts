import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const isBuilt = existsSync(new URL('../dist/index.js', import.meta.url));

describe('npm run bench', () => {
  // It measures the built package. Times are not asserted: they belong to the machine.
  it.skipIf(!isBuilt)(
    'measures one thing alone and gives its rows',
    { timeout: 180_000, tags: ['soak'] },
    async () => {
      const args = ['--import', 'tsx', 'bench/main.ts', '--quick', '--only', 'lookup', '--json'];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
      const { measured }: { measured: { lookup: { what: string; ours: number }[] } } = JSON.parse(stdout);
      expect(Object.keys(measured)).toEqual(['lookup']);
      expect(measured.lookup.map(({ what }) => what)).toEqual([
        'a name',
        'an alias',
        'no such name, the nearest is suggested',
        'an executor of 10,000 tools',
      ]);
      expect(measured.lookup.every(({ ours }) => ours > 0)).toBe(true);
    },
  );

  it('names what it can measure when it is asked for something else', { timeout: 180_000 }, async () => {
    const args = ['--import', 'tsx', 'bench/main.ts', '--only', 'speed'];
    await expect(promisify(execFile)(process.execPath, args, { cwd: ROOT })).rejects.toThrow(
      /Cannot measure "speed": choose from call, journal,/,
    );
  });
});
