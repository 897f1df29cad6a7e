import {
  deserializeMessage,
  isJSONRPCResponse,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { WholeLines } from '../base/whole-lines.js';
import {
  type ContainedServer,
  type ContainedServerRequest,
  launchContainedServer,
} from '../commands/launch-contained-server.js';
import { systemClock } from '../platform/clock/clock.js';

/** How long a server may take to exit after it was asked to. */
const GRACE_MS = 2_000;
const KEPT_ERRORS = 4_000;
/** The maximum size of one message. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * A server that is a program, over its standard input and output. It runs in the command sandbox. It is ended, with
 * everything that it started, when the connection or this program ends.
 */
export class SpawnTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #request: Omit<ContainedServerRequest, 'signal' | 'onOutput'>;
  readonly #abort = new AbortController();
  readonly #lines = new WholeLines(MOST_BYTES);
  #server: ContainedServer | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isClosed = false;
  #errors = '';

  constructor(request: Omit<ContainedServerRequest, 'signal' | 'onOutput'>) {
    this.#request = request;
  }

  /** The end of its standard error, for people. */
  get errors(): string {
    return this.#errors;
  }

  async start(): Promise<void> {
    const decoder = new TextDecoder();
    const server = await launchContainedServer({
      ...this.#request,
      signal: this.#abort.signal,
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') this.#read(chunk);
        else this.#errors = (this.#errors + decoder.decode(chunk, { stream: true })).slice(-KEPT_ERRORS);
      },
    });
    this.#server = server;
    this.#ended = server.ended.then(() => this.#closed());
  }

  #read(chunk: Uint8Array): void {
    // A server that is being ended may still write for a moment.
    if (this.#abort.signal.aborted) return;
    const lines = this.#lines.take(chunk);
    if (lines === undefined) return;
    const texts = lines.toString('utf8').split('\n');
    if (texts.pop() !== '') {
      this.onerror?.(new Error(`a line of the server has more than ${MOST_BYTES} bytes`));
      this.#abort.abort();
      return;
    }
    for (const text of texts) {
      try {
        const message = messageIn(text);
        if (message !== undefined) this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#server === undefined || this.#isClosed) throw new Error('the server has ended');
    this.#server.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === undefined) {
      this.#closed();
      return;
    }
    server.closeInput();
    const stop = systemClock.after(GRACE_MS, () => this.#abort.abort());
    await this.#ended.finally(stop);
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }
}

/** The first name in an answer, as libraries write it. */
const ANSWER = /\{\s*"(?:jsonrpc|id|result|error)"\s*:/g;
const MOST_PLACES = 10;

/** Undefined: the line is no message. A server that prints something without a line end prints its next answer after it. */
function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  let places = 0;
  for (const { index } of line.matchAll(ANSWER)) {
    places += 1;
    if (places > MOST_PLACES) return undefined;
    try {
      const message = deserializeMessage(line.slice(index));
      // A server may print the requests that it has received.
      return isJSONRPCResponse(message) ? message : undefined;
    } catch {
      // It belongs to what was printed.
    }
  }
  return undefined;
}
