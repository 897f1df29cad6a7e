import type { CallAssembler } from '../provider.js';
import { isRecord } from '../unknown-value.js';
import { type Item, isCallItem, readItem, toUnfinished } from './read.js';

/** From `response.output_item.added` and `.done`: the latter holds the whole item, so the deltas are not needed. */
export function createOpenaiResponsesAssembler(): CallAssembler {
  const open = new Map<unknown, Item>();
  const done = new Set<unknown>();
  return {
    push: (event) => {
      if (!isRecord(event) || !isCallItem(event.item)) return [];
      const { type, item, output_index: index } = event;
      if (type === 'response.output_item.added') open.set(index, item);
      if (type !== 'response.output_item.done' || done.has(index)) return [];
      open.delete(index);
      // Without an index there is nothing to tell a repetition by.
      if (index !== undefined) done.add(index);
      return [readItem(item)];
    },
    end: () => {
      const left = [...open.values()];
      open.clear();
      return left.map(toUnfinished);
    },
  };
}

export function isStreamEvent(event: unknown): boolean {
  return isRecord(event) && typeof event.type === 'string' && event.type.startsWith('response.');
}
