import type { ToolEvent } from '../../contract/executor.js';

type ChunkEvent = Extract<ToolEvent, { chunk: string }>;

/** How much text may wait for a reader before its producer is slowed down, in UTF-16 units. */
const HIGH_WATER = 256 * 1024;
/** How much text is kept before the reader begins, in UTF-16 units. */
const UNREAD_KEPT = 256 * 1024;
/** The size that an event counts in addition to its text, so that many tiny chunks cannot fill the memory. */
const SLOT = 64;
/** Waiting chunks are joined up to this size, so that many small chunks do not each cost a slot. */
const JOINED = 16 * 1024;

/**
 * The events of one batch, for one reader (D076, D099).
 *
 * 1. Events come out in the order in which they went in.
 * 2. After the reader begins, no event is dropped: `pushChunk` returns a promise while too much text is
 *   waiting.
 * 3. Before the reader begins, no producer waits: chunks over a limit are counted instead of kept, and the
 *   reader gets the count.
 * 4. State changes are always kept; the number of calls bounds them.
 */
export class EventStream implements AsyncIterable<ToolEvent> {
  readonly #waiting: ToolEvent[] = [];
  #waitingText = 0;
  #reading = false;
  #abandoned = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #wakeReader: (() => void) | undefined;
  #room: { readonly promise: Promise<void>; readonly open: () => void } | undefined;
  readonly #skipped = new Map<string, number>();

  push(event: ToolEvent): void {
    if (this.#abandoned) return;
    const skipped = event.type === 'completed' ? this.#skipped.get(event.callId) : undefined;
    if (skipped !== undefined) {
      this.#skipped.delete(event.callId);
      const { callId, toolName, at } = event;
      const message = `${skipped} characters of output were not kept: no reader had begun`;
      this.#waiting.push({ type: 'progress', callId, toolName, at, message });
    }
    this.#waiting.push(event);
    this.#wake();
  }

  /** Returns a promise if the reader is behind. Wait for it before the next chunk. */
  pushChunk(event: ChunkEvent): void | Promise<void> {
    if (this.#abandoned || event.chunk === '') return undefined;
    if (!this.#reading && this.#waitingText + event.chunk.length > UNREAD_KEPT) {
      this.#skipped.set(event.callId, (this.#skipped.get(event.callId) ?? 0) + event.chunk.length);
      return undefined;
    }
    this.#waitingText += event.chunk.length;
    if (!this.#join(event)) {
      this.#waiting.push(event);
      this.#waitingText += SLOT;
    }
    this.#wake();
    return this.#reading && this.#waitingText > HIGH_WATER ? this.#whenRoom() : undefined;
  }

  /** Ends the stream. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Ends the stream with an error, which the reader receives. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  /** Ends the stream when the results are complete, or with their error. @returns the results */
  async endWith<Results>(results: Promise<Results>): Promise<Results> {
    try {
      const all = await results;
      this.end();
      return all;
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ToolEvent, void, void> {
    this.#reading = true;
    try {
      for (;;) {
        const event = this.#waiting.shift();
        if (event !== undefined) {
          if ('chunk' in event) this.#release(event.chunk.length + SLOT);
          yield event;
        } else if (this.#ended) {
          if (this.#failure !== undefined) throw this.#failure.error;
          return;
        } else {
          const others = this.#wakeReader;
          await new Promise<void>((resolve) => {
            this.#wakeReader = () => {
              others?.();
              resolve();
            };
          });
        }
      }
    } finally {
      this.#leave();
    }
  }

  #join(event: ChunkEvent): boolean {
    const last = this.#waiting.at(-1);
    if (last === undefined || last.type !== event.type || !('chunk' in last)) return false;
    if (last.callId !== event.callId || last.chunk.length + event.chunk.length > JOINED) return false;
    this.#waiting[this.#waiting.length - 1] = { ...last, chunk: last.chunk + event.chunk };
    return true;
  }

  #release(length: number): void {
    this.#waitingText -= length;
    if (this.#waitingText > HIGH_WATER / 2) return;
    this.#room?.open();
    this.#room = undefined;
  }

  #whenRoom(): Promise<void> {
    if (this.#room === undefined) {
      let open = (): void => {};
      const promise = new Promise<void>((resolve) => {
        open = resolve;
      });
      this.#room = { promise, open };
    }
    return this.#room.promise;
  }

  // The reader has left, so waiting producers continue.
  #leave(): void {
    this.#abandoned = true;
    this.#waiting.length = 0;
    this.#release(this.#waitingText);
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = undefined;
  }
}
