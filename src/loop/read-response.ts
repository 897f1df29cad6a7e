import { abortable } from '../base/abortable.js';
import type { ToolCall } from '../contract/call.js';
import type { IncomingBatch } from '../contract/executor.js';
import type { ModelUsage } from '../contract/model.js';
import { ModelError } from '../errors/model-error.js';
import type { Model, ModelEnd, ModelEvent, ModelRequest } from '../providers/model.js';
import type { LoopEvent } from './loop-contract.js';

export interface Answered {
  readonly end: ModelEnd;
  /** Its calls, recorded and not started. */
  readonly incoming: IncomingBatch;
  readonly usage?: ModelUsage | undefined;
}

export type LoopResponse =
  | (Answered & { readonly kind: 'whole'; readonly text: string })
  /** An incomplete response: its calls are recorded with the answer that they did not run. */
  | {
      readonly kind: 'cut';
      readonly error: unknown;
      readonly text: string;
      readonly usage?: ModelUsage | undefined;
    };

interface Asked {
  readonly model: Model;
  readonly request: ModelRequest;
  readonly incoming: IncomingBatch;
  /** Whether an earlier response of the conversation had a call with this id. */
  readonly isKnown: (id: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads one response of the model as it arrives. Each complete call is recorded before reading gets ahead of
 * the journal (D086); none runs before the end of the response.
 */
export async function* readResponse(asked: Asked): AsyncGenerator<LoopEvent, LoopResponse, undefined> {
  const { model, request, incoming, signal } = asked;
  const recording = new Recording(incoming, asked.isKnown);
  let text = '';
  let usage: ModelUsage | undefined;
  let end: ModelEnd | undefined;
  let failure: { readonly error: unknown } | undefined;
  let isRead = false;
  try {
    for await (const event of untilAborted(() => model.stream(request, { signal }), signal)) {
      if (event.type === 'text') text += event.text;
      else if (event.type === 'usage') usage = event;
      else if (event.type === 'end') end = event;
      else if (event.type === 'call') recording.add(event.call, text);
      else if (event.type === 'call_error') recording.addUnreadable(event.error);
      if (event.type !== 'usage' && event.type !== 'end') yield event;
    }
    isRead = true;
    await recording.written();
    if (end === undefined)
      failure = { error: new ModelError(`${model.name} ended its answer without an end.`) };
  } catch (error) {
    isRead = true;
    failure = { error };
  } finally {
    // The reader has left.
    if (!isRead) await recording.drop();
  }
  if (failure === undefined && end !== undefined && !signal.aborted) {
    return { kind: 'whole', end, incoming, text, usage };
  }
  await recording.drop();
  return { kind: 'cut', error: failure?.error, text, usage };
}

/** The records of a response while it is read; awaited once, at its end. */
class Recording {
  readonly #incoming: IncomingBatch;
  readonly #isKnown: (id: string) => boolean;
  readonly #writes: Promise<void>[] = [];

  constructor(incoming: IncomingBatch, isKnown: (id: string) => boolean) {
    this.#incoming = incoming;
    this.#isKnown = isKnown;
  }

  add(call: ToolCall, said: string): void {
    const isRepeated = this.#isKnown(call.id);
    this.#write(this.#incoming.add([isRepeated ? { ...call, madeUp: true } : call], said));
  }

  addUnreadable(error: Parameters<IncomingBatch['addUnreadable']>[0]): void {
    this.#write(this.#incoming.addUnreadable(error));
  }

  /** @throws ToolError `journal_unavailable`: an unrecorded call must not run */
  async written(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** Never rejects: the turn already has a reason to end. */
  async drop(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.#incoming.drop('the response was cut').catch(() => {});
  }

  #write(writing: Promise<void>): void {
    writing.catch(() => {});
    this.#writes.push(writing);
  }
}

/** The events of a stream until the signal aborts, even if the stream ignores the signal. */
async function* untilAborted(
  open: () => AsyncIterable<ModelEvent>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  signal.throwIfAborted();
  const events = open()[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await abortable(() => events.next(), signal);
      isOver = done === true;
      if (isOver) return;
      yield value;
    }
  } catch (error) {
    isOver = !signal.aborted;
    throw error;
  } finally {
    // Not awaited: a hanging stream would hang this function too.
    if (!isOver) void Promise.resolve(events.return?.()).catch(() => {});
  }
}
