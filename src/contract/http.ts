/** The options of `ctx.http`: those of `fetch`, and limits. */
export interface HttpInit {
  /** Default `GET`. */
  readonly method?: string;
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
  /**
   * `follow` (default) continues within the declared addresses, at most ten times; `manual` returns the
   * redirect itself; `error` fails.
   */
  readonly redirect?: 'follow' | 'manual' | 'error';
  /** Besides the call's own. */
  readonly signal?: AbortSignal | null;
  /** Of the decompressed body; default 10485760. More is `too_large`. */
  readonly maxBytes?: number;
  /** From the start to the end of the body; default 30000. */
  readonly timeoutMs?: number;
}

/**
 * `fetch` for the addresses that a call declares as `{ kind: 'fetch', url }`: the same scheme, host and port,
 * or `https` at the same host in place of `http`. Connects only to public addresses and to the tool's
 * `privateHosts`.
 * @throws ToolError `sandbox_violation` for an address, also of a redirect, that was not declared;
 * `url_blocked` for a refused scheme or port or an address that is not public; `bad_args` for a text that is no
 * address; `fetch_failed`, `too_large`,
 * `timeout`, `cancelled`, also while the body is read. Messages contain no user names, passwords or queries
 * of addresses.
 */
export type ToolHttp = (url: string | URL, init?: HttpInit) => Promise<Response>;
