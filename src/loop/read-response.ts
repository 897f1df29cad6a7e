import { abortable } from '../base/abortable.js';
import type { ToolCall } from '../contract/call.js';
import type { IncomingBatch } from '../contract/executor.js';
import type { LoopEvent } from '../contract/loop.js';
import type { Model, ModelEnd, ModelEvent, ModelRequest, ModelUsage } from '../contract/model.js';
import { ModelError } from '../errors/model-error.js';

export interface Answered {
  readonly end: ModelEnd;
  /** Its calls, recorded and not started. */
  readonly incoming: IncomingBatch;
  readonly usage?: ModelUsage | undefined;
}

export type LoopResponse =
  | (Answered & { readonly kind: 'whole'; readonly text: string })
  /** It has no end: its calls are recorded, with the answer that they were not run. */
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
  /** Whether an earlier response of the conversation had a call of this id. */
  readonly isKnown: (id: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * One response of the model, as it arrives. Each call is recorded when it is whole, before the next event is read
 * further than the journal has to wait (D086); none is run before the response has its end.
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

/** What is written of a response while it is read: waited for once, at its end. */
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

  /** @throws ToolError `journal_unavailable`: what is not recorded must not run */
  async written(): Promise<void> {
    await Promise.all(this.#writes);
  }

  /** Never rejects: the turn has its reason to end already. */
  async drop(): Promise<void> {
    await Promise.allSettled(this.#writes);
    await this.#incoming.drop('the response was cut').catch(() => {});
  }

  #write(writing: Promise<void>): void {
    writing.catch(() => {});
    this.#writes.push(writing);
  }
}

/** The events of a stream, which is left as soon as the signal aborts, also where the stream does not take note. */
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
    // Not waited for: a stream that hangs would hang this as well.
    if (!isOver) void Promise.resolve(events.return?.()).catch(() => {});
  }
}
