import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { onAbort } from './stoppable-batch.js';

describe('onAbort()', () => {
  it('tells everybody once through one listener', () => {
    const controller = new AbortController();
    const told: number[] = [];
    for (let who = 0; who < 30; who++) onAbort(controller.signal, () => told.push(who));
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort();
    controller.abort();
    expect(told).toEqual(Array.from({ length: 30 }, (_, who) => who));
  });

  it('leaves nothing on a signal that nobody waits for any more, and can begin anew', () => {
    const controller = new AbortController();
    const told: string[] = [];
    const first = onAbort(controller.signal, () => told.push('first'));
    const second = onAbort(controller.signal, () => told.push('second'));
    first();
    first();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    second();
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    onAbort(controller.signal, () => told.push('third'));
    first();
    controller.abort();
    expect(told).toEqual(['third']);
  });
});
