import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createContainment } from './containment.js';
import { DirectoryBusy } from './directory-locks.js';
import { whileBusy } from './while-busy.js';
import { writeContained } from './write-contained.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-busy-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each look at it takes this long. */
function slowClock(stepMs: number): { monotonic(): number; readonly passedMs: number } {
  let passedMs = 0;
  return {
    monotonic: () => {
      passedMs += stepMs;
      return passedMs;
    },
    get passedMs() {
      return passedMs;
    },
  };
}

describe('whileBusy()', () => {
  it('ends an append after eight seconds of a file that another program changes under every attempt', async () => {
    const file = join(folder, 'f.txt');
    writeFileSync(file, 'theirs');
    const containment = createContainment({ roots: [folder] });
    const clock = slowClock(500);
    let attempts = 0;
    const intend = (): void => {
      attempts++;
      appendFileSync(file, '.');
    };
    const bytes = new TextEncoder().encode('ours');
    const write = whileBusy(
      () => writeContained(containment, 'f.txt', { bytes, mode: 'append', intend }),
      undefined,
      clock,
    );
    await expect(write).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringMatching(
        /^Cannot write "f\.txt": another program has changed it again and again/,
      ),
      details: { errno: 'EBUSY' },
    });
    expect(clock.passedMs).toBeGreaterThan(8_000);
    expect(clock.passedMs).toBeLessThan(10_000);
    expect(readFileSync(file, 'utf8')).toBe(`theirs${'.'.repeat(attempts)}`);
  });

  it('gives up after fifteen seconds of a directory in which others keep replacing files', async () => {
    const clock = slowClock(500);
    const busy = whileBusy(() => Promise.reject(new DirectoryBusy('theirs')), undefined, clock);
    await expect(busy).rejects.toMatchObject({ details: { errno: 'EBUSY' } });
    expect(clock.passedMs).toBeGreaterThan(15_000);
    expect(clock.passedMs).toBeLessThan(17_000);
  });

  it('tells the attempt of a lock that has not changed for three seconds', async () => {
    const told: (string | undefined)[] = [];
    const attempt = (abandoned: string | undefined): string => {
      told.push(abandoned);
      if (abandoned === undefined) throw new DirectoryBusy('theirs');
      return 'done';
    };
    expect(await whileBusy(attempt, undefined, slowClock(1_000))).toBe('done');
    expect(told.at(-1)).toBe('theirs');
    expect(told.length).toBeGreaterThan(2);
  });
});
