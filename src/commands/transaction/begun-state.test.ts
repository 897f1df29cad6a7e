import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { binaryEntry } from '../../platform/fs/binary-fs.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { BegunState } from './begun-state.js';

const HOUR_MS = 3_600_000;

/** A file with its times, and a clock that the test sets relative to the machine's. */
function aFile() {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'begun-')));
  onTestFinished(() => removeTree(around));
  const at = join(around, 'a');
  writeFileSync(at, 'a');
  const entry = binaryEntry(at);
  if (entry === undefined) throw new Error('it was just written');
  const times = { nowMs: Number(entry.ctimeNs) / 1e6, monotonicMs: 0 };
  const clock = { now: () => times.nowMs, monotonic: () => times.monotonicMs };
  const begin = (): BegunState => new BegunState(BigInt(Math.round(times.nowMs * 1e6)), [], clock);
  return { at, entry, times, begin };
}

describe('the state of the roots when a command began', () => {
  it('bug: a file whose time lies in the future, because the clock was ahead, counted as changed', () => {
    const { at, entry, times, begin } = aFile();
    times.nowMs -= 2 * HOUR_MS;
    const begun = begin();
    times.nowMs += 1000;
    times.monotonicMs += 1000;
    expect(begun.isSameEntry(at, entry)).toBe(true);
    expect(begun.isSameDirectory(at, entry)).toBe(true);
  });

  it('counts a change during the command, and during the comparison', () => {
    const { at, entry, times, begin } = aFile();
    times.nowMs -= 1000;
    const begun = begin();
    expect(begun.isSameEntry(at, entry)).toBe(false);
    times.nowMs += 2000;
    times.monotonicMs += 2000;
    expect(begun.isSameEntry(at, entry)).toBe(false);
  });

  it('bug: a change after the clock was set back was not seen', () => {
    const { at, entry, times, begin } = aFile();
    times.nowMs += HOUR_MS;
    const begun = begin();
    expect(begun.isSameEntry(at, entry)).toBe(true);
    times.nowMs -= HOUR_MS;
    times.monotonicMs += 1000;
    expect(begun.isSameEntry(at, entry)).toBe(false);
    expect(begun.isOld(entry.ctimeNs - BigInt(HOUR_MS) * 1_000_000n)).toBe(true);
  });

  it('counts a change after the clock was set forward', () => {
    const { at, entry, times, begin } = aFile();
    times.nowMs -= HOUR_MS;
    const begun = begin();
    times.nowMs += HOUR_MS;
    times.monotonicMs += 1000;
    expect(begun.isSameEntry(at, entry)).toBe(false);
  });

  it('counts a change after the clock was set back further than the command takes', () => {
    const { at, entry, times, begin } = aFile();
    const begun = begin();
    times.nowMs -= HOUR_MS;
    times.monotonicMs += 5000;
    const changed = { ...entry, ctimeNs: BigInt(Math.round(times.nowMs * 1e6)) };
    expect(begun.isSameEntry(at, changed)).toBe(false);
  });
});
