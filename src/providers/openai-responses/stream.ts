import type { CallAssembler } from '../provider.js';
import type { RawCall } from '../raw-call.js';
import { type Fields, isRecord, toRecords } from '../unknown-value.js';
import { type Item, isCallItem, readItem, toUnfinished } from './read.js';

/**
 * Uses `response.output_item.done`, which holds a whole item. Servers without it send all items at the end of
 * the response, or only the pieces of their arguments.
 */
export function createOpenaiResponsesAssembler(): CallAssembler {
  const items = new OpenItems();
  const steps = new Map<unknown, (event: Fields) => readonly RawCall[]>([
    ['response.output_item.added', (event) => items.begin(event)],
    ['response.output_item.done', ({ item, output_index: index }) => items.finish(item, index)],
    ['response.function_call_arguments.delta', (event) => items.extend(event, 'arguments')],
    ['response.function_call_arguments.done', (event) => items.extend(event, 'arguments')],
    ['response.custom_tool_call_input.delta', (event) => items.extend(event, 'input')],
    ['response.custom_tool_call_input.done', (event) => items.extend(event, 'input')],
    ['response.completed', ({ response }) => items.complete(response)],
    ['response.incomplete', ({ response }) => items.complete(response)],
  ]);
  return {
    push: (event) => (isRecord(event) ? (steps.get(event.type)?.(event) ?? []) : []),
    end: () => items.takeAll().map(toUnfinished),
  };
}

export function isStreamEvent(event: unknown): boolean {
  return isRecord(event) && typeof event.type === 'string' && event.type.startsWith('response.');
}

/** The field for the pieces of an item's text. */
type TextField = 'arguments' | 'input';

class OpenItems {
  readonly #open = new Map<unknown, Item>();
  readonly #done = new Set<unknown>();
  readonly #doneIds = new Set<unknown>();

  begin({ item, output_index: index }: Fields): readonly RawCall[] {
    if (isCallItem(item) && !this.#done.has(index)) this.#open.set(index, item);
    return [];
  }

  extend({ output_index: index, delta, ...whole }: Fields, field: TextField): readonly RawCall[] {
    const item = this.#open.get(index);
    if (item === undefined) return [];
    const known = item[field];
    const text =
      typeof delta === 'string' ? `${typeof known === 'string' ? known : ''}${delta}` : whole[field];
    if (typeof text === 'string') this.#open.set(index, { ...item, [field]: text });
    return [];
  }

  finish(item: unknown, index: unknown): readonly RawCall[] {
    if (!isCallItem(item) || this.#done.has(index)) return [];
    this.#open.delete(index);
    // Without an index, repetitions cannot be detected.
    if (index !== undefined) this.#done.add(index);
    this.#doneIds.add(item.call_id);
    return [readItem(item)];
  }

  /** The end of the response: the items without a `done` event, in order. */
  complete(response: unknown): readonly RawCall[] {
    const { output, status } = isRecord(response) ? response : {};
    const listed = toRecords(output).flatMap((item, index) =>
      this.#doneIds.has(item.call_id) ? [] : this.finish(item, index),
    );
    const left = this.takeAll().map((item) => {
      if (status === 'incomplete') return readItem({ ...item, status });
      // The pieces of an item without text never came.
      return hasText(item) ? readItem(item) : toUnfinished(item);
    });
    return [...listed, ...left];
  }

  takeAll(): readonly Item[] {
    const left = [...this.#open.values()];
    this.#open.clear();
    return left;
  }
}

function hasText({ arguments: args, input }: Item): boolean {
  return (typeof args === 'string' && args !== '') || (typeof input === 'string' && input !== '');
}
