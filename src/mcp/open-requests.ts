import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { systemClock } from '../platform/clock/clock.js';

/** Requests of one client that still wait for their answers, and questions of the server to that client. */
export class OpenRequests {
  readonly #asked = new Set<RequestId>();
  readonly #questions = new Set<RequestId>();
  #isOver = false;
  #wake = (): void => {};

  received(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      if (message.id !== undefined) this.#questions.delete(message.id);
    } else if ('id' in message) {
      // A subscription is answered when it ends, and it ends with the connection.
      if (message.method !== 'subscriptions/listen') this.#asked.add(message.id);
    } else if (message.method === 'notifications/cancelled') {
      this.#asked.delete(message.params?.requestId as RequestId);
      this.#wake();
    }
  }

  sent(message: JSONRPCMessage): void {
    if (!('id' in message) || message.id === undefined) return;
    if ('method' in message) this.#questions.add(message.id);
    else this.#asked.delete(message.id);
    this.#wake();
  }

  /** Resolves when no more answers can come from a client that has stopped sending, at the latest after this time. */
  async answered(mostMs: number): Promise<void> {
    const forget = systemClock.after(mostMs, () => this.close());
    // A call that has asked the client's person can only be cancelled.
    while (!this.#isOver && this.#asked.size > this.#questions.size)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    forget();
  }

  /** Nothing can be sent any more. */
  close(): void {
    this.#isOver = true;
    this.#wake();
  }
}
