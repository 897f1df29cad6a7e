import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { looksLikeStandIn } from './looks-like-stand-in.js';
import { holdStandIn, isStandIn, sweepStandIn } from './stand-in.js';

let place: string;
let path: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'stand-in-'));
  path = join(place, 'x');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const keep = (): void => {};

describe('a stand-in', () => {
  it('is there as long as anybody holds it', () => {
    const [first, second] = [holdStandIn(path, keep), holdStandIn(path, keep)];
    first?.release();
    expect([isStandIn(path), looksLikeStandIn(path), readdirSync(first?.inner ?? '')]).toEqual([
      true,
      true,
      [],
    ]);
    second?.release();
    expect(existsSync(path)).toBe(false);
  });

  it('is not made where somebody has something', () => {
    mkdirSync(path);
    expect([holdStandIn(path, keep), isStandIn(path), looksLikeStandIn(path)]).toEqual([
      undefined,
      false,
      false,
    ]);
    sweepStandIn(path, keep);
    expect(existsSync(path)).toBe(true);
  });

  it('hands over what was made in it, once', () => {
    const settled: string[][] = [];
    const settle = (inner: string): void => void settled.push(readdirSync(inner));
    const [first, second] = [holdStandIn(path, settle), holdStandIn(path, settle)];
    writeFileSync(join(first?.inner ?? '', 'made'), '');
    first?.release();
    expect(settled).toEqual([]);
    second?.release();
    expect(settled).toEqual([['made']]);
  });

  it('stays whole for whoever holds it while others come and go', async () => {
    const visitors = [startVisitor(), startVisitor(), startVisitor()];
    const said = visitors.map(({ stdout }) => text(stdout));
    await Promise.all(visitors.map(({ stdout }) => once(stdout, 'readable')));
    for (const { stdin } of visitors) stdin.end();
    expect(await Promise.all(said)).toEqual(visitors.map(() => 'ready, lost: 0'));
    expect(existsSync(path)).toBe(false);
  }, 60_000);

  it.skipIf(process.platform !== 'linux')(
    'of a process that was killed is swept, of a living one not',
    () => {
      const program = `import { holdStandIn } from ${JSON.stringify(join(import.meta.dirname, 'stand-in.ts'))};
      holdStandIn(${JSON.stringify(path)}, () => {}); process.kill(process.pid, 'SIGKILL');`;
      spawnSync(process.execPath, [
        '--import',
        import.meta.resolve('tsx'),
        '--input-type=module',
        '-e',
        program,
      ]);
      expect(looksLikeStandIn(path)).toBe(true);
      const held = holdStandIn(path, keep);
      sweepStandIn(path, keep);
      expect(isStandIn(path)).toBe(true);
      held?.release();
      expect(existsSync(path)).toBe(false);
    },
  );
});

/** Another process that holds and releases it again and again once its input ends, and says how often it was taken away. */
function startVisitor() {
  const program = `
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { holdStandIn } from ${JSON.stringify(join(import.meta.dirname, 'stand-in.ts'))};
process.stdout.write('ready, ');
await once(process.stdin.resume(), 'end');
let lost = 0;
for (let visit = 0; visit < 1000; visit++) {
  const held = holdStandIn(${JSON.stringify(path)}, () => {});
  for (let look = 0; look < 30; look++) if (!existsSync(held?.inner ?? '')) { lost++; break; }
  held?.release();
}
process.stdout.write('lost: ' + lost);`;
  const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program];
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
}
