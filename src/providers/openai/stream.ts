import type { CallAssembler } from '../provider.js';
import type { RawCall } from '../raw-call.js';
import { isRecord, toRecords } from '../unknown-value.js';
import { CUT_OFF, readLegacyCall, readToolCall } from './read.js';

/** The known parts of a call. */
interface OpenCall {
  readonly id: unknown;
  kind: 'function' | 'custom' | 'legacy';
  name: unknown;
  /** JSON arguments, or the free text of a custom tool. */
  text: string;
}

type Fragment = { readonly [key: string]: unknown };

/**
 * Uses `chat.completion.chunk` objects. Only `finish_reason` marks the end of all calls: until then a
 * fragment for any of them may arrive.
 */
export function createOpenaiAssembler(): CallAssembler {
  const open = new OpenCalls();
  return {
    push: (event) => {
      const choice = isRecord(event) ? toRecords(event.choices).find(isFirst) : undefined;
      if (choice === undefined) return [];
      if (isRecord(choice.delta)) open.extend(choice.delta);
      const { finish_reason: reason } = choice;
      if (typeof reason !== 'string') return [];
      return open.takeAll().map(reason === 'length' ? toCutCall : toRawCall);
    },
    end: () => open.takeAll().map((call) => ({ ...withoutArguments(toRawCall(call)), ...UNFINISHED })),
  };
}

export function isStreamEvent(event: unknown): boolean {
  if (!isRecord(event) || !Array.isArray(event.choices)) return false;
  if (event.object === 'chat.completion.chunk') return true;
  return toRecords(event.choices).some(({ delta }) => isRecord(delta));
}

const UNFINISHED = {
  problem: 'the stream ended before its finish_reason. Send the call again.',
  unfinished: true,
} as const;

/** Only the first of several choices counts, identified by its number: a chunk may hold only another one. */
function isFirst({ index }: Fragment): boolean {
  return index === undefined || index === 0;
}

class OpenCalls {
  #calls: OpenCall[] = [];
  #current = new Map<unknown, OpenCall>();

  extend({ tool_calls: fragments, function_call: legacy }: Fragment): void {
    for (const fragment of toRecords(fragments)) extendCall(this.#callOf(fragment), fragment);
    if (isRecord(legacy)) extendCall(this.#callOf({ index: 'legacy' }), { function: legacy }, 'legacy');
  }

  takeAll(): readonly OpenCall[] {
    const all = this.#calls;
    this.#calls = [];
    this.#current = new Map();
    return all;
  }

  /** The call of a fragment: the one with its index, unless the fragment has a new id. */
  #callOf({ index, id }: Fragment): OpenCall {
    const known = this.#current.get(index);
    // Some servers number every call 0, or none, and send each in one piece.
    const isNew = known === undefined || (typeof id === 'string' && id !== '' && id !== known.id);
    if (!isNew) return known;
    const call: OpenCall = { id, kind: 'function', name: undefined, text: '' };
    this.#calls.push(call);
    this.#current.set(index, call);
    return call;
  }
}

function extendCall(call: OpenCall, { function: wanted, custom }: Fragment, kind?: 'legacy'): void {
  const part = isRecord(custom) ? custom : wanted;
  if (!isRecord(part)) return;
  call.kind = kind ?? (isRecord(custom) ? 'custom' : call.kind);
  call.name ??= part.name;
  const piece = isRecord(custom) ? part.input : part.arguments;
  if (typeof piece === 'string') call.text += piece;
}

function toRawCall({ id, kind, name, text }: OpenCall): RawCall {
  if (kind === 'legacy') return readLegacyCall({ name, arguments: text });
  if (kind === 'custom') return readToolCall({ id, type: 'custom', custom: { name, input: text } });
  return readToolCall({ id, function: { name, arguments: text } });
}

/** A call of an interrupted response: without text, its arguments had not begun. */
function toCutCall(call: OpenCall): RawCall {
  const raw = toRawCall(call);
  return call.text.trim() === '' ? { ...withoutArguments(raw), problem: CUT_OFF } : raw;
}

function withoutArguments({ id, name, origin }: RawCall): Pick<RawCall, 'id' | 'name' | 'origin'> {
  return { id, name, ...(origin === undefined ? {} : { origin }) };
}
