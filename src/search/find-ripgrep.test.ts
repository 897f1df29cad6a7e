import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ripgrepOnPath } from './find-ripgrep.js';

it('is the first on the PATH that is new enough and outside the roots', async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-')));
  const before = process.env.PATH;
  onTestFinished(() => {
    process.env.PATH = before;
    rmSync(base, { recursive: true });
  });
  const program = (folder: string, script: string, mode = 0o755): string => {
    mkdirSync(join(base, folder));
    const file = join(base, folder, 'rg');
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, mode);
    return join(base, folder);
  };
  const inside = program('project', 'echo ripgrep 15.0.0');
  const old = program('old', 'echo ripgrep 12.9.9');
  const broken = program('broken', 'exit 3');
  const closed = program('closed', 'echo ripgrep 15.0.0', 0o644);
  const good = program('good', 'echo "ripgrep 13.0.0 (rev x)"');
  const path = (...folders: string[]): string => folders.join(delimiter);
  process.env.PATH = path('.', 'project', inside, old, broken, closed, good);
  expect(await ripgrepOnPath([inside])).toBe(join(good, 'rg'));
  expect(await ripgrepOnPath([base])).toBeUndefined();
  process.env.PATH = path(old, broken, join(base, 'missing'), '');
  expect(await ripgrepOnPath([])).toBeUndefined();
});
