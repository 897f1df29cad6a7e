import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { systemClock } from '../clock/clock.js';

/** One HTTP request over a new connection. */
export interface PinnedRequest {
  readonly url: URL;
  /** The only addresses for a connection: no name is resolved here. */
  readonly addresses: readonly string[];
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Aborting it closes the connection, at any time. */
  readonly signal: AbortSignal;
}

export interface PinnedAnswer {
  readonly status: number;
  readonly statusText: string;
  /** In order; a name may come several times. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decompressed; can be read once. Throws the error that interrupted the transfer. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection. */
  close(): void;
}

/** @throws Node's error if there was no answer, or the signal's reason */
export type SendRequest = (request: PinnedRequest) => Promise<PinnedAnswer>;

const MOST_HEADER_BYTES = 65_536;
/** Firewalls often drop packets instead of refusing them. Then the system would try for minutes. */
const CONNECT_MS = 10_000;

/** A server that speaks only another version refuses the connection, and the error names the reason. */
const STATED_VERSION = { ALPNProtocols: ['http/1.1'] };

export const sendRequest: SendRequest = ({ url, addresses, method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const sent = (isSecure ? requestHttps : requestHttp)({
      host,
      port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method,
      headers: {
        ...headers,
        host: url.host,
        connection: 'close',
        'accept-encoding': 'gzip, deflate, br',
        ...(body === undefined ? {} : { 'content-length': String(body.length) }),
      },
      // A kept-alive connection would outlive the check of its address.
      agent: false,
      // Not called for a literal IP address in the URL, which has already been checked.
      lookup: onlyTo(addresses),
      maxHeaderSize: MOST_HEADER_BYTES,
      insecureHTTPParser: false,
      // No environment variable may switch off the check of certificates.
      rejectUnauthorized: true,
      ...(isSecure ? STATED_VERSION : {}),
      ...(isSecure && isIP(host) === 0 ? { servername: host } : {}),
    });
    const unwait = systemClock.after(CONNECT_MS, () => {
      sent.destroy(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' }));
    });
    sent.once('socket', (socket) => void socket.once('connect', unwait));
    const stop = (): void => {
      sent.destroy(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
    const forget = (): void => signal.removeEventListener('abort', stop);
    sent.once('close', () => {
      unwait();
      forget();
      // A server that switches to another protocol gives no answer. After an answer this changes nothing.
      reject(new Error('the connection was cut'));
    });
    // A fault in the body (a chunk without a length) is reported here, and to the reader only as a cut connection.
    let fault: unknown;
    sent.on('error', (error) => {
      fault = error;
      reject(signal.aborted ? signal.reason : error);
    });
    sent.once('response', (response) => {
      const { rawHeaders, statusCode = 0, statusMessage = '' } = response;
      const encoding = String(response.headers['content-encoding'] ?? '');
      // Without a listener, an error after the last read would end the process.
      response.on('error', () => undefined);
      resolve({
        status: statusCode,
        statusText: statusMessage,
        headers: pairsOf(rawHeaders),
        body: decoded(response, { encoding, signal, fault: () => fault }),
        close: () => {
          response.destroy();
          sent.destroy();
        },
      });
    });
    if (signal.aborted) stop();
    else sent.end(body);
  });

function onlyTo(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (first === undefined) callback(new Error('there is no address to connect to'), '', 0);
    else if (options.all === true) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at] ?? '', raw[at + 1] ?? '']);
  return pairs;
}

type Decoder = ReturnType<typeof createGunzip>;

/** By encoding; each gets the first byte of the body. */
const DECODERS: Readonly<Record<string, (first: number) => Decoder>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: createInflateFor,
  br: () => createBrotliDecompress(),
};

/** Names with which servers describe a body that is not compressed, as browsers read them. */
const UNCHANGED: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8', 'aws-chunked']);

/** Many servers leave out the header of zlib, which the standard demands. Browsers accept both. */
function createInflateFor(first: number): Decoder {
  return (first & 0x0f) === ZLIB ? createInflate() : createInflateRaw();
}

/** The first byte of a body, which stays unread; undefined: the body is empty. */
async function firstByteOf(response: IncomingMessage): Promise<number | undefined> {
  if (response.readableLength === 0 && !response.readableEnded)
    await Promise.race([once(response, 'readable'), once(response, 'end')]);
  const chunk: Buffer | null = response.read();
  if (chunk !== null) response.unshift(chunk);
  return chunk?.[0];
}

/** The method of compression in the first byte of a zlib header. */
const ZLIB = 8;

interface Decoding {
  readonly encoding: string;
  readonly signal: AbortSignal;
  /** The reason why the transfer was interrupted, if there is a better one than the end of the connection. */
  readonly fault: () => unknown;
}

/** @throws Error for an encoding that is not known. */
async function* decoded(
  response: IncomingMessage,
  { encoding, signal, fault }: Decoding,
): AsyncGenerator<Uint8Array> {
  const names = encoding.toLowerCase().split(',');
  const name = names
    .map((each) => each.trim())
    .filter((each) => !UNCHANGED.has(each))
    .join(', ');
  try {
    if (name === '') {
      yield* response;
      // Without a length, an answer ends with its connection, even if this side closes it.
      signal.throwIfAborted();
      return;
    }
    const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
    if (create === undefined) throw new Error(`the content encoding ${JSON.stringify(name)} is not known`);
    const first = await firstByteOf(response);
    signal.throwIfAborted();
    // An empty body is compressed by no one, whatever its headers say.
    if (first === undefined && response.complete) return;
    const decoder = create(first ?? ZLIB);
    response.once('error', (error) => decoder.destroy(error));
    response.once('aborted', () => decoder.destroy(new Error('the connection was cut')));
    yield* response.pipe(decoder);
    signal.throwIfAborted();
  } catch (error) {
    throw signal.aborted ? signal.reason : (fault() ?? error);
  } finally {
    // Also when the reader stops early: nothing more is received or decompressed.
    response.destroy();
  }
}
