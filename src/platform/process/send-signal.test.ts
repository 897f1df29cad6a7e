import { expect, it } from 'vitest';
import { sendSignal } from './send-signal.js';

it.each([0, 1, -1, process.pid, Number.NaN, 1.5])(
  'sendSignal() refuses %d: too many would hear it',
  (target) => {
    expect(sendSignal(target, 0)).toBe('refused');
  },
);

it('sendSignal() says when nobody is there', () => {
  expect(sendSignal(2 ** 30, 0)).toBe('gone');
});
