import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { looksLikePlaceholder } from './looks-like-placeholder.js';
import { holdPlaceholder, isPlaceholder, sweepPlaceholder } from './placeholder.js';

let place: string;
let path: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'placeholder-'));
  path = join(place, 'x');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const MODULE = JSON.stringify(bundleProgram(join(import.meta.dirname, 'placeholder.ts')));
const keep = (): void => {};

describe('a placeholder', () => {
  it('is there as long as anybody holds it', () => {
    const [first, second] = [holdPlaceholder(path, keep), holdPlaceholder(path, keep)];
    first?.release();
    expect([isPlaceholder(path), looksLikePlaceholder(path), readdirSync(first?.inner ?? '')]).toEqual([
      true,
      true,
      [],
    ]);
    second?.release();
    expect(existsSync(path)).toBe(false);
  });

  it('is not made where somebody has something', () => {
    mkdirSync(path);
    expect([holdPlaceholder(path, keep), isPlaceholder(path), looksLikePlaceholder(path)]).toEqual([
      undefined,
      false,
      false,
    ]);
    sweepPlaceholder(path, keep);
    expect(existsSync(path)).toBe(true);
  });

  it('hands over what was made in it, once', () => {
    const settled: string[][] = [];
    const settle = (inner: string): void => void settled.push(readdirSync(inner));
    const [first, second] = [holdPlaceholder(path, settle), holdPlaceholder(path, settle)];
    writeFileSync(join(first?.inner ?? '', 'made'), '');
    first?.release();
    expect(settled).toEqual([]);
    second?.release();
    expect(settled).toEqual([['made']]);
  });

  it('stays whole for whoever holds it while others come and go', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const visitors = [startVisitor(), startVisitor(), startVisitor()];
    const said = visitors.map(({ stdout }) => text(stdout));
    await Promise.all(visitors.map(({ stdout }) => once(stdout, 'readable')));
    for (const { stdin } of visitors) stdin.end();
    expect(await Promise.all(said)).toEqual(visitors.map(() => 'ready, lost: 0'));
    expect(existsSync(path)).toBe(false);
  });

  it.skipIf(process.platform !== 'linux')(
    'of a process that was killed is swept, of a living one not',
    () => {
      const program = `import { holdPlaceholder } from ${MODULE};
      holdPlaceholder(${JSON.stringify(path)}, () => {}); process.kill(process.pid, 'SIGKILL');`;
      spawnSync(process.execPath, ['--input-type=module', '-e', program]);
      expect(looksLikePlaceholder(path)).toBe(true);
      const held = holdPlaceholder(path, keep);
      sweepPlaceholder(path, keep);
      expect(isPlaceholder(path)).toBe(true);
      held?.release();
      expect(existsSync(path)).toBe(false);
    },
  );
});

/**
 * Another process that holds and releases it again and again after its input ends, and reports how often it was
 * removed.
 */
function startVisitor() {
  const program = `
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { holdPlaceholder } from ${MODULE};
process.stdout.write('ready, ');
await once(process.stdin.resume(), 'end');
let lost = 0;
for (let visit = 0; visit < 1000; visit++) {
  const held = holdPlaceholder(${JSON.stringify(path)}, () => {});
  for (let look = 0; look < 30; look++) if (!existsSync(held?.inner ?? '')) { lost++; break; }
  held?.release();
}
process.stdout.write('lost: ' + lost);`;
  const args = ['--input-type=module', '-e', program];
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}
