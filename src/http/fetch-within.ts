import type { HttpInit } from '../contract/http.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import type { HostPattern } from '../patterns/host.js';
import { systemClock } from '../platform/clock/clock.js';
import { type LookUpHost, lookUpHost } from '../platform/runtime/look-up-host.js';
import { type PinnedAnswer, type SendRequest, sendRequest } from '../platform/runtime/send-request.js';
import { failed, whyFailed } from './fetch-failures.js';
import { isException, literalOf, parseTarget, requirePublic, showUrl } from './request-target.js';

/** The addresses that a call may reach. */
export interface FetchScope {
  /** Whether the call has declared this address. */
  readonly declares: (url: URL) => boolean;
  readonly undeclared: (shown: string, redirect: string | undefined) => ToolError;
  /** Hosts whose addresses need not be public. */
  readonly exceptions: readonly HostPattern[];
  /** Aborting it ends every request of the call. */
  readonly signal: AbortSignal;
}

/** How names are resolved and connections are made: tests pass hostile versions. */
export interface Network {
  readonly lookUp: LookUpHost;
  readonly send: SendRequest;
}

const NETWORK: Network = { lookUp: lookUpHost, send: sendRequest };

const MOST_REDIRECTS = 10;
const DEFAULT_BYTES = 10 * 1024 * 1024;
const DEFAULT_MS = 30_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** An error of the transport, or of one connection. */
const OWN_HEADERS = [
  ...['accept-encoding', 'connection', 'content-length', 'expect', 'host', 'keep-alive', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'proxy-authorization', 'proxy-connection'],
];
const USER_AGENT = 'toolexec (+https://github.com/toolexec-placeholder/toolexec)';

/**
 * `fetch` for declared addresses only.
 *
 * 1. Every hop is checked as a whole: scheme, port and literal address, the declaration, and all answers of
 *   the name system. If one address is not public, the hop is refused.
 * 2. The connection goes to the checked addresses: no name is resolved twice.
 * 3. Time and bytes are limited, even if a server never ends its answer. Both count until the body is read.
 * 4. No message contains a user name, a password or a query.
 */
export async function fetchWithin(
  scope: FetchScope,
  target: string | URL,
  init: HttpInit = {},
  network: Network = NETWORK,
): Promise<Response> {
  const limits = {
    maxBytes: init.maxBytes ?? DEFAULT_BYTES,
    timeoutMs: init.timeoutMs ?? DEFAULT_MS,
    redirect: init.redirect ?? 'follow',
  };
  let url = parseTarget(String(target), scope.exceptions);
  const shown = showUrl(url);
  if (!scope.declares(url)) throw scope.undeclared(shown, undefined);
  const life = new RequestLife(scope.signal, init.signal ?? undefined, limits.timeoutMs, shown);
  try {
    let sending = await normalizeRequest(url, init, life.signal);
    for (let redirects = 0; ; redirects++) {
      const addresses = await checkedAddresses(url, scope, network, life.signal);
      const answer = await network.send({ url, addresses, ...sending, signal: life.signal });
      const next = REDIRECTS.has(answer.status) ? locationOf(answer, url) : undefined;
      if (next === undefined || limits.redirect === 'manual') {
        const { method } = sending;
        return toResponse(answer, {
          url,
          method,
          redirected: redirects > 0,
          maxBytes: limits.maxBytes,
          life,
        });
      }
      answer.close();
      if (limits.redirect === 'error') throw failed(url, 'it redirects, which is not allowed here');
      if (redirects === MOST_REDIRECTS) {
        throw failed(url, `too many redirects: more than ${MOST_REDIRECTS}`, { reason: 'TooManyRedirects' });
      }
      const from = url;
      url = parseTarget(next.href, scope.exceptions);
      sending = afterRedirect(sending, answer.status, url.origin !== from.origin);
      if (!scope.declares(url)) throw scope.undeclared(shown, showUrl(url));
    }
  } catch (error) {
    life.end();
    throw isToolError(error) ? error : whyFailed(url, error);
  }
}

/** The time limit of a request, from its start to the end of its body. */
class RequestLife {
  readonly #controller = new AbortController();
  readonly #undo: (() => void)[] = [];

  constructor(call: AbortSignal, own: AbortSignal | undefined, timeoutMs: number, shown: string) {
    for (const signal of own === undefined ? [call] : [call, own]) {
      const stop = (): void => this.#abort(asToolError(signal.reason, shown));
      signal.addEventListener('abort', stop, { once: true });
      this.#undo.push(() => signal.removeEventListener('abort', stop));
      if (signal.aborted) stop();
    }
    const late = new ToolError(
      'timeout',
      `Cannot fetch ${shown}: no complete answer came within ${timeoutMs} ms.`,
    );
    this.#undo.push(systemClock.after(timeoutMs, () => this.#abort(late)));
  }

  /** The body may never be read, and then nothing else would end its timer. */
  #abort(reason: ToolError): void {
    this.#controller.abort(reason);
    this.end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

function asToolError(reason: unknown, shown: string): ToolError {
  if (isToolError(reason)) return reason;
  return new ToolError('cancelled', `Cannot fetch ${shown}: it was cancelled.`, { cause: reason });
}

interface Sending {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/** @throws ToolError `fetch_failed` for a method, header or body that `fetch` does not accept */
async function normalizeRequest(
  url: URL,
  { method, headers, body }: HttpInit,
  signal: AbortSignal,
): Promise<Sending> {
  try {
    const request = new Request(url, {
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body, duplex: 'half' }),
    });
    for (const name of OWN_HEADERS) request.headers.delete(name);
    if (!request.headers.has('user-agent')) request.headers.set('user-agent', USER_AGENT);
    if (!request.headers.has('accept')) request.headers.set('accept', '*/*');
    const bytes = request.body === null ? undefined : await bytesOf(request.body, signal);
    return { method: request.method, headers: Object.fromEntries(request.headers), body: bytes };
  } catch {
    signal.throwIfAborted();
    // The error may quote a header, which may be a secret.
    throw failed(url, 'the method, a header or the body of the request is not valid');
  }
}

/** The stream of a tool may never end. */
async function bytesOf(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<Uint8Array> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const chunks: Uint8Array[] = [];
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  return Buffer.concat(chunks);
}

/**
 * Like browsers: after 303, and after 301 or 302 of a POST, the new address is requested with GET. Another origin
 * receives no credentials.
 */
function afterRedirect(sending: Sending, status: number, isOtherOrigin: boolean): Sending {
  const { method, headers, body } = isOtherOrigin ? withoutCredentials(sending) : sending;
  const isRead = method === 'GET' || method === 'HEAD';
  const isKept = isRead || status === 307 || status === 308 || (status !== 303 && method !== 'POST');
  if (isKept) return { method, headers, body };
  const rest = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { method: 'GET', headers: Object.fromEntries(rest), body: undefined };
}

function withoutCredentials(sending: Sending): Sending {
  const rest = Object.entries(sending.headers).filter(
    ([name]) => name !== 'authorization' && name !== 'cookie',
  );
  return { ...sending, headers: Object.fromEntries(rest) };
}

/** The target of a redirect; undefined if the response names none, and then it is not followed. */
function locationOf({ headers, close }: PinnedAnswer, from: URL): URL | undefined {
  const [, location] = headers.find(([name]) => name.toLowerCase() === 'location') ?? [];
  if (location === undefined) return undefined;
  try {
    return new URL(decodedHeader(location), from);
  } catch {
    close();
    throw failed(from, 'it redirects to a text that is not a URL');
  }
}

/** A header whose bytes are UTF-8, as some servers send addresses; it was read as Latin-1. */
function decodedHeader(value: string): string {
  try {
    return STRICT.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true });

async function checkedAddresses(
  url: URL,
  { exceptions }: FetchScope,
  { lookUp }: Network,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const literal = literalOf(url);
  if (literal !== undefined) return [literal];
  const addresses = await lookUp(url.hostname.replace(/\.$/, ''), signal);
  if (addresses.length === 0) throw failed(url, 'its host has no address');
  if (!isException(url, exceptions)) for (const address of addresses) requirePublic(url, address);
  return addresses;
}

function encodeLetters(address: string): string {
  return address.replace(/[^\x20-\x7e]+/g, encodeURIComponent);
}

interface Answered {
  readonly url: URL;
  readonly method: string;
  readonly redirected: boolean;
  readonly maxBytes: number;
  readonly life: RequestLife;
}

function toResponse(answer: PinnedAnswer, { url, method, redirected, maxBytes, life }: Answered): Response {
  const headers = new Headers();
  // A reader of `location` gets an address in ASCII.
  for (const [name, value] of answer.headers)
    headers.append(name, name.toLowerCase() === 'location' ? encodeLetters(decodedHeader(value)) : value);
  const { status, statusText } = answer;
  if (status < 200 || status > 599) {
    answer.close();
    throw failed(url, `its status ${status} is none`);
  }
  // Then its headers describe the body that another answer would have.
  const hasNoBody = method === 'HEAD' || status === 204 || status === 205 || status === 304;
  const declared = Number(headers.get('content-length') ?? 0);
  if (declared > maxBytes && !hasNoBody) {
    answer.close();
    throw tooLarge(url, maxBytes);
  }
  if (hasNoBody) {
    answer.close();
    life.end();
  }
  const body = hasNoBody ? null : streamOf(answer, { url, maxBytes, life });
  const response = new Response(body, { status, headers });
  Object.defineProperties(response, {
    url: { value: url.href },
    redirected: { value: redirected },
    // Not by the constructor, which accepts neither controls nor letters beyond Latin-1.
    statusText: { value: decodedHeader(statusText).replace(/\p{Cc}/gu, '') },
  });
  return response;
}

type BodyLimits = Pick<Answered, 'url' | 'maxBytes' | 'life'>;

function streamOf(answer: PinnedAnswer, limits: BodyLimits): ReadableStream<Uint8Array> {
  const chunks = limited(answer, limits);
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => chunks.next(),
      // A generator that was not started ends without its `finally`, so a body that is cancelled unread is closed here.
      async return() {
        answer.close();
        limits.life.end();
        return chunks.return(undefined);
      },
    }),
  };
  return ReadableStream.from(body);
}

async function* limited(
  answer: PinnedAnswer,
  { url, maxBytes, life }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(url, maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw isToolError(error) ? error : whyFailed(url, error);
  } finally {
    answer.close();
    life.end();
  }
}

function tooLarge(url: URL, maxBytes: number): ToolError {
  const message = `Cannot fetch ${showUrl(url)}: the answer has more than ${maxBytes} bytes.`;
  return new ToolError('too_large', message, { details: { url: showUrl(url), max_bytes: maxBytes } });
}
