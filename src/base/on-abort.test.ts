import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from './on-abort.js';

describe('onAbort()', () => {
  it('calls back each callback once, through one listener', () => {
    const controller = new AbortController();
    const called: number[] = [];
    for (let index = 0; index < 30; index++) onAbort(controller.signal, () => called.push(index));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    controller.abort();
    expect(called).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });

  it('leaves nothing on a signal once every callback was taken back, and can begin again', () => {
    const controller = new AbortController();
    const called: string[] = [];
    const first = onAbort(controller.signal, () => called.push('first'));
    const second = onAbort(controller.signal, () => called.push('second'));
    first();
    first();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    second();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    onAbort(controller.signal, () => called.push('third'));
    first();
    controller.abort();
    expect(called).toEqual(['third']);
  });
});
