import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ShellLog } from './shell-log.js';

const BLOCK = 65_536;

it('gives every byte once and in order, as long as all fit', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 50 }), fc.boolean())), (steps) => {
      const log = new ShellLog(1_000_000);
      const parts: Buffer[] = [];
      const read = (ended: boolean): void => {
        parts.push(log.take({ ended, wholeLines: false }).bytes);
      };
      for (const [chunk, readNow] of steps) {
        log.push(chunk);
        if (readNow) read(false);
      }
      read(true);
      expect(Buffer.concat(parts)).toEqual(Buffer.concat(steps.map(([chunk]) => chunk)));
    }),
  );
});

it('keeps the newest bytes within its limit, and counts the unread ones it drops', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 3 * BLOCK }), { maxLength: 12 });
  fc.assert(
    fc.property(sizes, fc.constantFrom(10, 1000, BLOCK, 2 * BLOCK + 5), (lengths, limit) => {
      const log = new ShellLog(limit);
      const whole = Buffer.concat(lengths.map((length, index) => Buffer.alloc(length, index)));
      let at = 0;
      for (const length of lengths) {
        log.push(whole.subarray(at, at + length));
        at += length;
      }
      const kept = log.bytes();
      expect(log.totalBytes).toBe(whole.length);
      expect(kept.equals(whole.subarray(whole.length - kept.length))).toBe(true);
      expect(kept.length).toBe(Math.min(limit, whole.length));
      expect(log.truncated).toBe(whole.length > limit);
      const { bytes, droppedBytes } = log.take({ ended: true, wholeLines: false });
      expect(bytes.length + droppedBytes).toBe(whole.length);
      expect(log.readTo).toBe(whole.length);
    }),
    { numRuns: 40 },
  );
});

it('waits until a line, and a character, is complete', () => {
  const log = new ShellLog(1000);
  const text = (options: { ended: boolean; wholeLines: boolean }): string =>
    log.take(options).bytes.toString();
  log.push(Buffer.from('one\ntw'));
  expect(text({ ended: false, wholeLines: true })).toBe('one\n');
  log.push(Buffer.from([0xc3]));
  expect(text({ ended: false, wholeLines: false })).toBe('tw');
  log.push(Buffer.from([0xbc]));
  expect(text({ ended: true, wholeLines: true })).toBe('ü');
});
