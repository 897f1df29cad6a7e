import { parseUrl } from '../base/parse-url.js';
import { ToolError } from '../errors/tool-error.js';
import type { HostPattern } from '../patterns/host.js';
import { readHost } from '../patterns/host.js';
import { whyNotPublic } from './public-address.js';

/**
 * Ports of other protocols, which the fetch standard also refuses: a request to such a port could talk to a mail
 * server.
 */
const BAD_PORTS = new Set(
  [
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ].map(String),
);

/**
 * Reads an address, and refuses it if its text alone rules it out: a scheme, a port, a user name, a literal address
 * that is not public in any of its spellings.
 * @throws ToolError `url_blocked`; `bad_args` if the text is not an address
 */
export function parseTarget(text: string, exceptions: readonly HostPattern[]): URL {
  const url = parseUrl(text);
  if (url === undefined) throw notAnAddress(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw blocked(
      showUrl(url),
      `its scheme is ${url.protocol.slice(0, -1)}, only http and https are fetched`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw blocked(showUrl(url), 'it holds a user name or a password');
  }
  if (BAD_PORTS.has(url.port)) throw blocked(showUrl(url), `port ${url.port} belongs to another protocol`);
  if (!isException(url, exceptions)) {
    const literal = literalOf(url);
    if (literal !== undefined) requirePublic(url, literal);
    if (/(?:^|\.)localhost\.?$/.test(url.hostname))
      throw blocked(showUrl(url), 'it is this machine, not a public address');
  }
  url.hash = '';
  return url;
}

/** The literal IP address in a URL. The URL parser has already decoded decimal, octal and hexadecimal spellings. */
export function literalOf(url: URL): string | undefined {
  if (url.hostname.startsWith('[')) return url.hostname.slice(1, -1);
  return /^[\d.]+$/.test(url.hostname) ? url.hostname.replace(/\.$/, '') : undefined;
}

/** The host program has listed it. */
export function isException(url: URL, exceptions: readonly HostPattern[]): boolean {
  if (exceptions.length === 0) return false;
  const host = readHost(url.href);
  return exceptions.some((pattern) => pattern.matches(host));
}

/** @throws ToolError `url_blocked` */
export function requirePublic(url: URL, address: string): void {
  const why = whyNotPublic(address);
  if (why === undefined) return;
  const named = literalOf(url) === address ? '' : `${url.hostname} is ${address}, and `;
  throw blocked(
    showUrl(url),
    `${named}${named === '' ? why : why.replace(/^it/, 'that')}, not a public address`,
    {
      address,
    },
  );
}

export function blocked(shown: string, why: string, details: Record<string, string> = {}): ToolError {
  return new ToolError('url_blocked', `Cannot fetch ${shown}: ${why}.`, {
    details: { url: shown, ...details },
    hint: 'For an address of your own network, name its host and port in builtins.webFetch.allowPrivate, or in privateHosts of the tool.',
  });
}

function notAnAddress(text: string): ToolError {
  const shown = text.slice(0, 200);
  const why = 'it is not a URL. Send a whole one, such as https://example.org/page';
  return new ToolError('bad_args', `Cannot fetch ${shown}: ${why}.`, { details: { url: shown } });
}

/** The address without parts that may be secret: the user, and the values of the query. */
export function showUrl(url: URL): string {
  const slashes = url.href.startsWith(`${url.protocol}//`) ? '//' : '';
  return `${url.protocol}${slashes}${url.host}${url.pathname}${url.search === '' ? '' : '?…'}`;
}
