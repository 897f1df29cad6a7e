import { timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';

/** Names under which a program on this machine reaches a local server. */
const LOCAL_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Why a request must not be answered: its `Host` is not a name of this server, or a page of another site sent it.
 * Both keep web pages from reaching a local server (DNS rebinding). Undefined: it may be answered.
 * @param host the address at which the server listens; one that stands for all addresses of the machine accepts every
 *   address as `Host`, because rebinding needs a name
 * @param names the other names under which clients or a proxy reach it
 */
export function foreignRequest(
  request: Request,
  host: string,
  names: readonly string[] = [],
): string | undefined {
  const own = [...LOCAL_NAMES, host.includes(':') ? `[${host}]` : host, ...names].map((name) =>
    name.toLowerCase(),
  );
  const asked = hostnameOf(`http://${request.headers.get('host') ?? ''}`);
  if (asked === undefined || !(own.includes(asked) || (isEveryAddress(host) && isAddress(asked))))
    return 'The header Host does not name this server. Its option --name accepts another name.';
  const origin = request.headers.get('origin');
  if (origin === null) return undefined;
  const page = hostnameOf(origin);
  const known = [...LOCAL_NAMES, ...names.map((name) => name.toLowerCase())];
  return page !== undefined && known.includes(page) ? undefined : 'Pages of other sites are not served.';
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** An IPv6 address has brackets in a `Host`. */
function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function hostnameOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname || undefined : undefined;
}

/** The token in a request; empty if the request has no token. */
export function bearerOf(request: Request): string {
  return /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
}

/** Compares secrets in a time that does not depend on their content. */
export function isSameSecret(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whether only programs on this machine can reach a server that listens at this address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
