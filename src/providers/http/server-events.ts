import { createParser } from 'eventsource-parser';
import { ModelError } from '../../errors/model-error.js';

/** Limit for one event, and for all bytes of an answer. */
const MAX_EVENT_CHARACTERS = 32 * 1024 * 1024;
const MAX_BYTES = 256 * 1024 * 1024;

/** Parses server-sent events from bytes that are split anywhere: inside a character, or between CR and LF. */
export class ServerEvents {
  readonly #decoder = new TextDecoder();
  #events: string[] = [];
  #bytes = 0;
  readonly #parser = createParser({
    onEvent: ({ data }) => this.#events.push(data),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') throw new ModelError('an event of its stream is too large');
    },
    maxBufferSize: MAX_EVENT_CHARACTERS,
  });

  /**
   * @returns the data of each complete event.
   * @throws ModelError if the answer exceeds its limit.
   */
  push(bytes: Uint8Array): readonly string[] {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) throw new ModelError('its stream is too large');
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
    return this.#take();
  }

  /** The last event, if the server left out the final empty line. */
  end(): readonly string[] {
    this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    return this.#take();
  }

  #take(): readonly string[] {
    if (this.#events.length === 0) return NONE;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

const NONE: readonly string[] = [];
