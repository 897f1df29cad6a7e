import type { Clock } from '../../contract/context.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { ModelError } from '../../errors/model-error.js';
import type { HttpAnswer, HttpPost, PostHttp } from '../../platform/runtime/post-http.js';
import { isJsonObject, objectIn, objectsIn, readJson, textIn } from '../json-fields.js';
import { askedDelay } from './retry-delay.js';
import { ServerEvents } from './server-events.js';

export interface StreamOptions {
  readonly post: PostHttp;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The events of a whole response, from a server that does not stream; empty if it is not a response. */
  readonly toEvents: (response: JsonObject) => readonly JsonObject[];
}

/** The provider answered with something other than a stream. */
export class RefusedRequest extends ModelError {
  /** The delay that the answer asks for. */
  readonly askedDelayMs: number | undefined;

  constructor(message: string, status: number, askedDelayMs: number | undefined, retriable: boolean) {
    super(message, { status, retriable });
    this.askedDelayMs = askedDelayMs;
  }
}

/**
 * Sends a request and yields the data of its events, as they arrive. Ending the iteration early closes the
 * connection.
 * @throws ModelError if the provider refuses, the connection fails or is silent for too long, or the signal
 * aborts. Messages may contain text from the provider: the caller cleans them.
 */
export async function* openStream(
  request: Omit<HttpPost, 'signal'>,
  { post, clock, timeoutMs, signal, toEvents }: StreamOptions,
): AsyncGenerator<readonly string[], void> {
  const connection = new Connection(clock, timeoutMs, signal);
  try {
    const answer = await connection.wait(() => post({ ...request, signal: connection.signal }));
    if (!isStream(answer)) {
      const text = await readStart(answer, connection);
      const events = answer.status === 200 ? objectsIn(listOf(readJson(text))).flatMap(toEvents) : [];
      if (events.length === 0) throw toRefusal(answer, text, clock);
      yield events.map((event) => JSON.stringify(event));
      return;
    }
    const reader = new ServerEvents();
    const body = answer.body[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await connection.wait(() => body.next());
      const events = done === true ? reader.end() : reader.push(value);
      if (events.length > 0) yield events;
      if (done === true) return;
    }
  } finally {
    connection.close();
  }
}

/** One connection, with two reasons to close it: silence, and the caller's signal. */
class Connection {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #cancelled: AbortSignal;
  readonly #onAbort = (): void => this.#controller.abort();
  #isSilent = false;

  constructor(clock: Clock, timeoutMs: number, cancelled: AbortSignal) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#cancelled = cancelled;
    cancelled.addEventListener('abort', this.#onAbort, { once: true });
    if (cancelled.aborted) this.#controller.abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the provider's next data; only time spent waiting counts. */
  async wait<T>(next: () => Promise<T>): Promise<T> {
    const stop = this.#clock.after(this.#timeoutMs, () => {
      this.#isSilent = true;
      this.#controller.abort();
    });
    try {
      return await next();
    } catch (error) {
      throw this.#explain(error);
    } finally {
      stop();
    }
  }

  close(): void {
    this.#cancelled.removeEventListener('abort', this.#onAbort);
    this.#controller.abort();
  }

  #explain(error: unknown): ModelError {
    if (this.#cancelled.aborted) return cancelled(this.#cancelled);
    if (this.#isSilent) {
      return new ModelError(`no answer within ${this.#timeoutMs} ms (timeoutMs)`, { retriable: true });
    }
    return new ModelError(`the connection failed: ${reasonOf(error)}`, { retriable: true });
  }
}

export function cancelled(signal: AbortSignal): ModelError {
  return new ModelError('the request was cancelled', { cause: signal.reason });
}

/** The cause of "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  // The error for several failed addresses has no message.
  return cause.message === '' ? code || error.message : cause.message;
}

function isStream(answer: HttpAnswer): boolean {
  const type = answer.header('content-type') ?? '';
  return answer.status === 200 && !/^(?:application\/json|text\/html)\b/i.test(type);
}

/**
 * @returns undefined for OpenAI's end marker.
 * @throws ModelError for an invalid event: the stream was cut off, or does not come from a provider.
 */
export function parseEvent(data: string): JsonObject | undefined {
  if (data === '[DONE]') return undefined;
  const value = readJson(data);
  if (isJsonObject(value)) return value;
  throw new ModelError('an event of its stream is not a JSON object', { retriable: true });
}

/** Gemini writes a stream without events as a list. */
function listOf(value: JsonValue | undefined): JsonValue {
  return Array.isArray(value) ? value : [value ?? null];
}

const MAX_WHOLE_CHARACTERS = 32 * 1024 * 1024;
const MAX_REFUSAL_CHARACTERS = 64 * 1024;

function toRefusal(answer: HttpAnswer, text: string, clock: Clock): RefusedRequest {
  const { status } = answer;
  const asked = askedDelay(answer.header, clock.now());
  const isPassing = status === 408 || status === 429 || status >= 500;
  return new RefusedRequest(describeRefusal(answer, text), status, asked, isPassing);
}

async function readStart({ status, body }: HttpAnswer, connection: Connection): Promise<string> {
  const limit = status === 200 ? MAX_WHOLE_CHARACTERS : MAX_REFUSAL_CHARACTERS;
  const decoder = new TextDecoder();
  const reader = body[Symbol.asyncIterator]();
  let text = '';
  try {
    while (text.length < limit) {
      const { done, value } = await connection.wait(() => reader.next());
      if (done === true) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    // The status of a refusal says enough; only a cancellation takes precedence.
    if (status === 200 || !(error instanceof ModelError) || !error.retriable) throw error;
  }
  return text;
}

function describeRefusal({ status, header }: HttpAnswer, text: string): string {
  if (status >= 300 && status < 400) {
    return `it redirects (${status}) to ${header('location') ?? 'another address'}: set the base URL to where it is`;
  }
  const said = saidIn(text);
  if (status === 200) return `it answered with ${header('content-type')} in place of a stream${said}`;
  return `it answered ${status}${said}`;
}

/** The error message in each provider's wrapping; the beginning of other texts. */
function saidIn(text: string): string {
  const value = readJson(text);
  const body = objectIn(Array.isArray(value) ? objectsIn(value)[0] : value);
  const error = objectIn(body.error);
  const plain = [error.message, body.error, body.message, body.detail].map(textIn);
  const message =
    plain.find((candidate) => candidate !== '') ?? (isJsonObject(value) ? text : firstWords(text));
  const kind = [error.type, error.status, error.code].map(textIn).find((candidate) => candidate !== '');
  const shown = message.replace(/\s+/g, ' ').trim().slice(0, 500);
  return `${kind === undefined ? '' : ` (${kind})`}${shown === '' ? '' : `: ${shown}`}`;
}

function firstWords(text: string): string {
  return text.replace(/<[^>]*>/g, ' ').slice(0, 200);
}
