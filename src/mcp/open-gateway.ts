import type { Client } from '@modelcontextprotocol/client';
import type { McpServerSettings } from '../config/mcp-servers.js';
import type { Logger } from '../contract/context.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import type { FileWatch } from '../platform/fs/watch-file.js';
import type { GatewayWorld } from './connect-upstream.js';
import { GivenValues } from './given-values.js';
import { followList, listUpstreamTools } from './list-tools.js';
import type { MalformedTools } from './malformed-tools.js';
import { comparePins, type Pins, readPins, renewPins, watchPins } from './tool-pins.js';
import { requireServerName } from './upstream-names.js';
import { problemIn } from './upstream-result.js';
import { type Server, UpstreamSource } from './upstream-source.js';

export interface GatewayOptions extends GatewayWorld {
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** For servers without `timeoutMs`. Default 60000. */
  readonly timeoutMs?: number;
  readonly logger: Pick<Logger, 'warn'>;
  /** Only these pins. Default: the recorded pins. */
  readonly pinsOf?: (name: string) => Pins | undefined;
}

export interface Gateway {
  readonly source: UpstreamSource;
  /** Connects to all reachable servers. Resolves when each has listed its tools or failed. */
  connectAll(): Promise<void>;
  /** From now on, tools that a person accepts or withdraws in another process are shown or hidden at once. */
  followPins(): void;
  /** Ends every connection and every started program. */
  close(): Promise<void>;
}

/** The time limit for a server to list its tools. */
const CONNECT_MS = 30_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Other servers behind one executor. Nothing starts before a tool is called, or `connectAll`: until then the pins
 * provide the tools. After a lost connection, the next call connects again, each time after a longer pause.
 * @throws ToolError `config_invalid` for an unusable name or an unusable record of pins
 */
export function openGateway(options: GatewayOptions): Gateway {
  const connections = Object.entries(options.servers).map(([name, server]) => {
    requireServerName(name);
    return new UpstreamConnection(name, server, options, () => source.update());
  });
  const source = new UpstreamSource(connections.map(({ server }) => server));
  let watch: FileWatch | undefined;
  return {
    source,
    async connectAll() {
      await Promise.all(connections.map((connection) => connection.tryIt()));
    },
    followPins() {
      watch ??= watchPins(() => {
        for (const connection of connections) connection.readPins();
        source.update();
      });
    },
    async close() {
      watch?.close();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

class UpstreamConnection {
  readonly server: Server;
  readonly #name: string;
  readonly #configured: McpServerSettings;
  readonly #options: GatewayOptions;
  readonly #changed: () => void;
  readonly #given = new GivenValues();
  #connecting: Promise<Client> | undefined;
  #failures = 0;
  /** The state of the tools at the last list. */
  #warned = '';
  #retryAt = 0;
  readonly #closing = new AbortController();

  constructor(name: string, configured: McpServerSettings, options: GatewayOptions, changed: () => void) {
    const { timeoutMs = options.timeoutMs ?? 60_000, trusted = false, tools } = configured;
    this.#name = name;
    this.#configured = configured;
    this.#options = options;
    this.#changed = changed;
    this.server = {
      upstream: {
        name,
        trusted,
        timeoutMs,
        client: (signal) => this.#client(signal),
        given: this.#given,
      },
      only: tools === undefined ? undefined : new Set(tools),
      pins: (options.pinsOf ?? readPins)(name) ?? new Map(),
      unpinned: false,
    };
  }

  /** A record that cannot be used changes nothing. */
  readPins(): void {
    try {
      const pins = (this.#options.pinsOf ?? readPins)(this.#name) ?? new Map();
      this.server.pins = renewPins(this.server.pins, pins);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#options.logger.warn({ server: this.#name, why }, 'the pins cannot be read');
    }
  }

  /** Never rejects: a server that does not work has only its pinned tools. */
  async tryIt(): Promise<void> {
    await this.#connect().catch(() => {});
  }

  async #client(signal: AbortSignal): Promise<Client> {
    signal.throwIfAborted();
    try {
      return await this.#connect();
    } catch (error) {
      const message = `The MCP server ${this.#name} cannot be reached: ${this.#reason(error)}`;
      throw new ToolError('spawn_failed', message, { details: { executed: 'no', server: this.#name } });
    }
  }

  #connect(): Promise<Client> {
    if (this.#closing.signal.aborted) return Promise.reject(new Error('it is closed.'));
    if (this.#connecting !== undefined) return this.#connecting;
    const leftMs = this.#retryAt - systemClock.monotonic();
    if (leftMs > 0) {
      const why = this.server.problem ?? 'it was lost';
      return Promise.reject(new Error(`${why} It is tried again in ${Math.ceil(leftMs / 1000)} s.`));
    }
    const connecting = this.#begin();
    this.#connecting = connecting;
    connecting.catch((error: unknown) => this.#failed(error));
    return connecting;
  }

  async #begin(): Promise<Client> {
    // A client gets its first list from the pins, before this code is loaded.
    const { connectUpstream } = await import('./connect-upstream.js');
    const { signal } = this.#closing;
    const client = await connectUpstream(this.#name, this.#configured, this.#options, {
      timeoutMs: CONNECT_MS,
      given: this.#given,
      signal,
    });
    const end = (): Promise<void> => client.close().catch(() => {});
    signal.addEventListener('abort', end, { once: true });
    try {
      if (signal.aborted) throw new Error('it is closed.');
      followList(client, () => this.#list(client));
      await this.#list(client);
      if (client.transport === undefined) throw new Error('its connection has ended.');
    } catch (error) {
      // The next attempt starts another program, so this one must not stay.
      await end();
      throw error;
    } finally {
      signal.removeEventListener('abort', end);
    }
    client.onclose = () => this.#lost();
    this.#failures = 0;
    return client;
  }

  async #list(client: Client): Promise<void> {
    const offered = await listUpstreamTools(client, CONNECT_MS);
    this.server.offered = offered;
    delete this.server.problem;
    this.#changed();
    const pins = this.server.pins ?? new Map();
    const { added, changed } = comparePins(pins, offered.tools);
    const why = describeMalformed(offered.malformed);
    const state = JSON.stringify([added, changed, why]);
    // A server may report changes without end.
    if (state === this.#warned) return;
    this.#warned = state;
    const server = this.#name;
    const { warn } = this.#options.logger;
    if (why !== '') warn({ server, why: this.#given.hide(why) }, 'tools cannot be used');
    if (added.length + changed.length > 0)
      warn({ server, added: [...added], changed: [...changed] }, 'tools wait to be seen by a person');
  }

  #lost(): void {
    if (this.#closing.signal.aborted) return;
    this.#connecting = undefined;
    this.#pause('its connection has ended.');
  }

  #failed(error: unknown): void {
    this.#connecting = undefined;
    const why = this.#reason(error);
    this.#pause(why);
    this.#options.logger.warn({ server: this.#name, why }, 'an MCP server cannot be reached');
  }

  /** A server may repeat what it was given. */
  #reason(error: unknown): string {
    return this.#given.hide(error instanceof Error ? problemIn(error) : String(error));
  }

  #pause(problem: string): void {
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    this.#retryAt = systemClock.monotonic() + pauseMs;
    this.server.problem = problem;
    this.#changed();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const client = await this.#connecting?.catch(() => undefined);
    await client?.close();
  }
}

const MOST_DESCRIBED = 10;

function describeMalformed(malformed: MalformedTools): string {
  const all = [...malformed].map(([name, why]) => `${name}: ${why}`);
  const more = all.length > MOST_DESCRIBED ? [`and ${all.length - MOST_DESCRIBED} more`] : [];
  return [...all.slice(0, MOST_DESCRIBED), ...more].join('; ');
}
