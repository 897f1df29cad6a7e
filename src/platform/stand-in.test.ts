import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
