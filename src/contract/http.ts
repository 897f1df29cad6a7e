/** What `ctx.http` takes besides the address: as `fetch` does, and limits. */
export interface HttpInit {
  /** Default `GET`. */
  readonly method?: string;
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
  /**
   * `follow` (default) goes on within what the call has declared, at most ten times; `manual` gives the redirect itself;
   * `error` fails.
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
 * `fetch`, for the addresses that a call declares as `{ kind: 'fetch', url }`: the same scheme, host and port, or `https` at
 * the same host in place of `http`. Connects only to public addresses, and to what the tool's `privateHosts` names.
 * @throws ToolError `sandbox_violation` for an address, also of a redirect, that was not declared; `url_blocked` for an
 *   address that is not public, a scheme or a port; `fetch_failed`, `too_large`, `timeout`, `cancelled`, also while the body
 *   is read. Messages hold no user names, passwords or queries of addresses.
 */
export type ToolHttp = (url: string | URL, init?: HttpInit) => Promise<Response>;
