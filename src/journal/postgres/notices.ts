import { createHash } from 'node:crypto';
import { Client, Pool } from 'pg';
import type { Dispatcher, Signals, SignalTopic } from '../../contract/fleet.js';
import type { CallKey } from '../../contract/worker.js';
import { idleClock } from '../../platform/clock/clock.js';
import type { PostgresPlace } from './ordered-operations.js';

/** The server accepts shorter payloads than 8,000 bytes. */
const MOST_BYTES = 7_500;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

type Topic = 'hint' | SignalTopic;
type Listener = (call: CallKey) => unknown;

/** A journal's hints, over separate connections. */
export function openNotices(
  url: string,
  schema: string,
  tenant: string,
): Pick<PostgresNotices, 'dispatcher' | 'close'> {
  const pool = new Pool({ connectionString: url, max: 1 });
  // The next notice connects again.
  pool.on('error', () => {});
  const notices = new PostgresNotices({ pool, schema, tenant });
  return { dispatcher: notices.dispatcher, close: () => notices.close().finally(() => pool.end()) };
}

/**
 * Keys of calls by LISTEN and NOTIFY of the server that holds the journal, so nothing needs to be installed. Each
 * listening journal has one more connection. While that connection is broken, notices are lost.
 */
export class PostgresNotices {
  /** Hints for workers. */
  readonly dispatcher: Dispatcher;
  readonly signals: Signals;
  readonly #pool: Pool;
  readonly #channel: string;
  readonly #listeners = new Map<Topic, Set<Listener>>();
  readonly #waiting = new Map<Topic, CallKey[]>();
  #sending: Promise<void> | undefined;
  #client: Client | undefined;
  #state: 'silent' | 'listens' | 'closed' = 'silent';

  constructor({ pool, schema, tenant }: Pick<PostgresPlace, 'pool' | 'schema' | 'tenant'>) {
    this.#pool = pool;
    const name = createHash('sha256').update(`${schema} ${tenant}`).digest('hex').slice(0, 32);
    this.#channel = `toolexec_${name}`;
    this.dispatcher = {
      hint: (calls) => this.#post('hint', calls),
      listen: (onHint) => this.#listen('hint', onHint),
    };
    this.signals = {
      // Its readers also poll: a lost notification only costs time.
      send: (topic, calls) => void this.#post(topic, calls).catch(() => {}),
      listen: (topic, onSignal) => this.#listen(topic, onSignal),
    };
  }

  async close(): Promise<void> {
    this.#state = 'closed';
    this.#listeners.clear();
    await this.#sending?.catch(() => {});
    const client = this.#client;
    // Without this, a process that only waits for the end of the connection exits early.
    if (client !== undefined && 'ref' in client && typeof client.ref === 'function') client.ref();
    await client?.end().catch(() => {});
  }

  /** Calls that are posted while a notification is being sent share the next one. */
  #post(topic: Topic, calls: readonly CallKey[]): Promise<void> {
    const waiting = this.#waiting.get(topic);
    if (waiting === undefined) this.#waiting.set(topic, [...calls]);
    else waiting.push(...calls);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    while (this.#waiting.size > 0 && this.#state !== 'closed') {
      const notices = [...this.#waiting].flatMap(([topic, calls]) =>
        toPayloads(calls).map((payload) => [this.#channelOf(topic), payload] as const),
      );
      this.#waiting.clear();
      // The server plans one call faster than a list of one.
      const calls = notices.map((_, index) => `pg_notify($${2 * index + 1}, $${2 * index + 2})`);
      await this.#pool.query(`SELECT ${calls.join(', ')}`, notices.flat());
    }
  }

  #listen(topic: Topic, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic);
    if (listeners === undefined) {
      this.#listeners.set(topic, new Set([listener]));
      this.#client?.query(`LISTEN "${this.#channelOf(topic)}"`).catch(() => {});
    } else listeners.add(listener);
    if (this.#state === 'silent') {
      this.#state = 'listens';
      void this.#connect();
    }
    return () => {
      this.#listeners.get(topic)?.delete(listener);
    };
  }

  /** Connects until that succeeds, and again when the connection ends. */
  async #connect(): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; this.#state === 'listens'; ) {
      const client = new Client(this.#pool.options);
      client.on('error', () => {});
      client.on('notification', ({ channel, payload = '[]' }) => this.#deliver(channel, payload));
      try {
        await client.connect();
        this.#client = client;
        const topics = [...this.#listeners.keys()];
        await client.query(topics.map((topic) => `LISTEN "${this.#channelOf(topic)}"`).join(';'));
        if (this.#state !== 'listens') return await client.end();
        client.on('end', () => void this.#connect());
        // A listening journal does not keep its process alive.
        if ('unref' in client && typeof client.unref === 'function') client.unref();
        return;
      } catch {
        this.#client = undefined;
        await client.end().catch(() => {});
        await new Promise<void>((resolve) => void idleClock.after(pauseMs, resolve));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    }
  }

  /** Hints use the bare channel name: processes of earlier versions listen there. */
  #channelOf(topic: Topic): string {
    return topic === 'hint' ? this.#channel : `${this.#channel}_${topic}`;
  }

  #deliver(channel: string, payload: string): void {
    const keys: readonly CallKey[] = JSON.parse(payload);
    for (const [topic, listeners] of this.#listeners) {
      if (this.#channelOf(topic) !== channel) continue;
      for (const key of keys) for (const listener of listeners) listener(key);
    }
  }
}

/** Groups keys into lists. A key that is too long is left out: its call is found by polling. */
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
