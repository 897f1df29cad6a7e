/** An HTTP POST request whose response is read while it arrives. */
export interface HttpPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborting it closes the connection, at any time. */
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** Can be read once. Ending the iteration early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** @throws what `fetch` throws, if there was no response. */
export type PostHttp = (request: HttpPost) => Promise<HttpAnswer>;

export const postHttp: PostHttp = async ({ url, headers, body, signal }) => {
  const options: RequestInit = {
    method: 'POST',
    // Made first: Node loads its HTTP client, and with it the dispatcher, when this name is first used.
    headers: new Headers(headers),
    body,
    signal,
    // Following a redirect would send the key to another host.
    redirect: 'manual',
    ...silentForLong(),
  };
  const response = await fetch(url, options);
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    body: response.body ?? NOTHING,
  };
};

const NOTHING: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: async function* () {} };

type WithDispatcher = Pick<RequestInit, 'dispatcher'>;
type Agent = new (options: {
  headersTimeout: number;
  bodyTimeout: number;
}) => NonNullable<RequestInit['dispatcher']>;

let unlimited: WithDispatcher | undefined;

/**
 * `fetch` gives up on a connection that is silent for five minutes, and a model that thinks may be silent for
 * longer. Only the caller's time limit may apply. A dispatcher that the program has set, such as a
 * proxy, stays.
 */
function silentForLong(): WithDispatcher {
  const global: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'));
  if (typeof global !== 'object' || global === null || global.constructor.name !== 'Agent') return {};
  unlimited ??= { dispatcher: new (global.constructor as Agent)({ headersTimeout: 0, bodyTimeout: 0 }) };
  return unlimited;
}
