import { createHash } from 'node:crypto';
import { Client, type Pool } from 'pg';
import type { Dispatcher } from '../../contract/fleet.js';
import type { CallKey } from '../../contract/worker.js';
import { idleClock } from '../../platform/clock/clock.js';
import type { PostgresPlace } from './ordered-operations.js';

/** The server accepts shorter payloads than 8,000 bytes. */
const MOST_BYTES = 7_500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Hints by LISTEN and NOTIFY of the server that holds the journal, so there is nothing to install. Each listening journal
 * has one more connection. While that is broken, hints are lost, as the interface allows.
 */
export class PostgresNotices implements Dispatcher {
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #listeners = new Set<(call: CallKey) => unknown>();
  readonly #waiting: CallKey[] = [];
  #sending: Promise<void> | undefined;
  #client: Client | undefined;
  #state: 'silent' | 'listens' | 'closed' = 'silent';

  constructor({ pool, schema, tenant }: PostgresPlace) {
    this.#pool = pool;
    const name = createHash('sha256').update(`${schema} ${tenant}`).digest('hex').slice(0, 32);
    this.#channel = `toolexec_${name}`;
  }

  /** Calls that are hinted while a notice is on its way share the next one. */
  hint(calls: readonly CallKey[]): Promise<void> {
    this.#waiting.push(...calls);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0 && this.#state !== 'closed') {
      const payloads = toPayloads(this.#waiting.splice(0));
      await this.#pool.query('SELECT pg_notify($1, p) FROM unnest($2::text[]) AS p', [
        this.#channel,
        payloads,
      ]);
    }
  }

  listen(onHint: (call: CallKey) => unknown): () => void {
    this.#listeners.add(onHint);
    if (this.#state === 'silent') {
      this.#state = 'listens';
      void this.#connect();
    }
    return () => {
      this.#listeners.delete(onHint);
    };
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#listeners.clear();
    await this.#sending?.catch(() => {});
    await this.#client?.end().catch(() => {});
  }

  /** Connects until that succeeds, and again when the connection ends. */
  async #connect(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; this.#state === 'listens'; ) {
      const client = new Client(this.#pool.options);
      client.on('error', () => {});
      client.on('notification', ({ payload = '[]' }) => this.#deliver(payload));
      try {
        await client.connect();
        await client.query(`LISTEN "${this.#channel}"`);
        if (this.#state !== 'listens') return await client.end();
        client.on('end', () => void this.#connect());
        // A listening journal does not keep its process alive.
        if ('unref' in client && typeof client.unref === 'function') client.unref();
        this.#client = client;
        return;
      } catch {
        await client.end().catch(() => {});
        await new Promise<void>((resolve) => void idleClock.after(pauseMs, resolve));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  #deliver(payload: string): void {
    const keys: readonly CallKey[] = JSON.parse(payload);
    for (const key of keys) for (const onHint of this.#listeners) onHint(key);
  }
}

/** Groups keys into lists. A key that is too long is left out: workers find its call by looking. */
function toPayloads(keys: readonly CallKey[]): readonly string[] {
  const groups: CallKey[][] = [];
  let bytes = MOST_BYTES;
  for (const key of keys) {
    const added = Buffer.byteLength(JSON.stringify(key)) + 1;
    if (added > MOST_BYTES) continue;
    bytes += added;
    if (bytes > MOST_BYTES) {
      groups.push([]);
      bytes = added;
    }
    groups.at(-1)?.push(key);
  }
  return groups.map((group) => JSON.stringify(group));
}
