import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { WHY_NO_SANDBOX } from './fixtures/sandbox-here.js';

const HOST = bundleProgram(fileURLToPath(new URL('./fixtures/inheriting-host.ts', import.meta.url)));

// Node keeps low descriptors from its children, but not those after a gap.
it.runIf(process.platform === 'linux').each(WHY_NO_SANDBOX === '' ? ['off', 'required'] : ['off'])(
  'a command gets no descriptor that this program has inherited (sandbox: %s)',
  (os) => {
    const place = mkdtempSync(join(tmpdir(), 'inherited-'));
    const root = openSync('/', 'r');
    try {
      const stdio = ['ignore', 'pipe', 'inherit', ...Array<'ignore'>(197).fill('ignore'), root] as const;
      const command =
        'ls /proc/self/fd/200/; [ -e /proc/self/fd/200 ] && readlink /proc/self/fd/200; echo ran';
      const ran = spawnSync(process.execPath, [HOST, command, os], {
        cwd: place,
        stdio: [...stdio],
        encoding: 'utf8',
      });
      expect(ran.stdout.match(/^ran$/gm)).toHaveLength(3);
      expect(ran.stdout).not.toMatch(/^(?:usr|proc|\/)$/m);
    } finally {
      closeSync(root);
      rmSync(place, { recursive: true, force: true });
    }
  },
  60_000,
);
