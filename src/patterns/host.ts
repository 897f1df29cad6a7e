import { domainToASCII } from 'node:url';
import { parseUrl } from '../base/parse-url.js';

/** A host from a URL, in canonical form. */
export interface HostSubject {
  readonly shown: string;
  /** Undefined: the text is not a URL, so its host is unknown. */
  readonly scheme: string | undefined;
  readonly host: string;
  /** The scheme's default if none is written; empty if the scheme has none. */
  readonly port: string;
  readonly hasUser: boolean;
}

export interface HostPattern {
  readonly source: string;
  /** The index key: the host, or the common end of all its hosts; empty for every host. */
  readonly host: string;
  readonly kind: 'host' | 'below' | 'any';
  readonly isLiteral: boolean;
  readonly literalCharacters: number;
  matches(url: HostSubject): boolean;
}

const PORTS: Readonly<Record<string, string>> = { http: '80', https: '443', ws: '80', wss: '443', ftp: '21' };
const PATTERN =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):\/\/)?(\[[0-9A-Fa-f:.]+\]|[^/:@?#[\]\\\s]+)(?::(\d{1,5}|\*))?(?:\/\*{0,2})?$/;

/**
 * Parses `*.example.com`, `https://api.example.com`, `localhost:3000`, `[::1]`, `*`. `*.` matches one or more
 * labels, not zero. Without a scheme or port any matches; but an allowing rule without a scheme matches only
 * `http` and `https`, and never a URL with a user name.
 * @throws Error with the reason if the pattern is invalid.
 */
export function parseHostPattern(source: string, tightens: boolean): HostPattern {
  const [, scheme, written = '', port] = PATTERN.exec(source.trim()) ?? [];
  if (written === '')
    throw new Error('it is not a host, such as "example.com", "*.example.com" or "https://localhost:3000"');
  const kind = written === '*' ? 'any' : written.startsWith('*.') ? 'below' : 'host';
  const name = kind === 'any' ? '' : kind === 'below' ? written.slice(2) : written;
  if (name.includes('*'))
    throw new Error('"*" stands for whole names at the beginning only: "*.example.com"');
  const host = kind === 'any' ? '' : canonicalHost(name);
  if (host === undefined) throw new Error(`"${name}" is not a host`);
  if (kind === 'below' && /^\[|^[\d.]+$/.test(host)) throw new Error('an address has no names before it');
  const schemes = scheme !== undefined ? [scheme.toLowerCase()] : tightens ? undefined : ['http', 'https'];
  const wanted = port === undefined || port === '*' ? undefined : String(Number(port));
  return {
    source,
    host,
    kind,
    isLiteral: kind === 'host',
    literalCharacters: host.length + (scheme?.length ?? 0) + (wanted?.length ?? 0),
    matches(url) {
      if (url.scheme === undefined || (url.hasUser && !tightens)) return false;
      if (schemes !== undefined && !schemes.includes(url.scheme)) return false;
      if (wanted !== undefined && wanted !== url.port) return false;
      return kind === 'any' || (kind === 'host' ? url.host === host : url.host.endsWith(`.${host}`));
    },
  };
}

/** Parses a URL like a client does, so neither user names nor spellings mislead. */
export function readHost(text: string): HostSubject {
  const url = parseUrl(text);
  const host = url === undefined ? undefined : hostOf(url);
  if (url === undefined || host === undefined) {
    return { shown: text, scheme: undefined, host: '', port: '', hasUser: false };
  }
  const scheme = url.protocol.slice(0, -1);
  const hasUser = url.username !== '' || url.password !== '';
  return { shown: text, scheme, host, port: url.port || (PORTS[scheme] ?? ''), hasUser };
}

/** For schemes with a default port, the parser has already made the host canonical. */
function hostOf({ protocol, hostname }: URL): string | undefined {
  if (!Object.hasOwn(PORTS, protocol.slice(0, -1))) return canonicalHost(hostname);
  const bare = hostname.replace(/\.+$/, '');
  return bare === '' ? undefined : (mappedAddress(bare) ?? bare);
}

/** Lower case, ASCII, no final dot, addresses in canonical form. Undefined if it is not a host. */
function canonicalHost(name: string): string | undefined {
  const bare = name.replace(/\.+$/, '');
  if (bare === '') return undefined;
  const base = parseUrl(`http://${bare}/`)?.hostname ?? domainToASCII(bare);
  if (base === '') return undefined;
  return mappedAddress(base) ?? base;
}

/** A program that connects treats `::ffff:127.0.0.1` as 127.0.0.1. */
function mappedAddress(host: string): string | undefined {
  if (!host.startsWith('[')) return undefined;
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const bytes = [high, low].flatMap((part) => [
    Number.parseInt(part, 16) >> 8,
    Number.parseInt(part, 16) & 255,
  ]);
  return bytes.join('.');
}

/** Whether the text names one host, or the hosts below a domain, but not every host. */
export function isNarrowHostPattern(text: string): boolean {
  try {
    return parseHostPattern(text, false).kind !== 'any';
  } catch {
    return false;
  }
}
