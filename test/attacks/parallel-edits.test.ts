import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';

const EDITS = 150;
const NAMES = ['one', 'two'];

it('two processes that edit one file lose none of each other’s edits', async () => {
  const root = mkdtempSync(join(tmpdir(), 'toolexec-edits-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'log'), 'count: 0\n');
  const editors = NAMES.map((name) => startEditor(root, name));
  // Otherwise one of them may be done before the other begins.
  await Promise.all(editors.map(({ stdout }) => once(stdout, 'readable')));
  for (const { stdin } of editors) stdin.end();
  const said = await Promise.all(editors.map(({ stdout }) => text(stdout)));
  const [count, ...lines] = readFileSync(join(root, 'log'), 'utf8').trimEnd().split('\n');
  expect(count).toBe(`count: ${EDITS * NAMES.length}`);
  const expected = NAMES.flatMap((name) => Array.from({ length: EDITS }, (_, index) => `${name} ${index}`));
  expect(lines.sort()).toEqual(expected.sort());
  expect(readdirSync(root)).toEqual(['log']);
  // Otherwise they never met.
  expect(said.join(' ')).toMatch(/stale: [1-9]/);
});

function startEditor(root: string, name: string) {
  const file = join(import.meta.dirname, 'edit-in-parallel.mjs');
  return spawn(process.execPath, ['--import', 'tsx', file, root, name, String(EDITS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}
