import { ToolError } from '../errors/tool-error.js';
import { namedProxy } from '../platform/runtime/environment.js';
import { showUrl } from './request-target.js';

export function failed(
  url: URL,
  why: string,
  details: Record<string, string> = {},
  isUnreached = false,
): ToolError {
  const shown = showUrl(url);
  const proxy = isUnreached ? namedProxy() : undefined;
  return new ToolError('fetch_failed', `Cannot fetch ${shown}: ${why}.`, {
    details: { url: shown, ...details },
    ...(proxy === undefined
      ? {}
      : { hint: `${proxy} is set, but requests do not use it: addresses behind a proxy cannot be checked.` }),
  });
}

/** Behind a proxy, a direct connection often fails for this reason. */
const UNREACHED: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]);

/** The reason for a missing answer, in words: the connection, the name, the certificate, or the answer itself. */
export function whyFailed(url: URL, error: unknown): ToolError {
  const code = codeOf(error);
  const known =
    alertOf(error) ??
    (isHttp2Frame(error) ? ONLY_HTTP2 : WORDS[code]) ??
    (code.startsWith('ERR_SSL_') ? WORDS.EPROTO : undefined);
  if (known !== undefined) return failed(url, known, { reason: code }, UNREACHED.has(code));
  if (isCertificateFault(code)) {
    return failed(url, `its certificate cannot be trusted (${code})`, { reason: 'Certificate' });
  }
  if (code.startsWith('HPE_')) return failed(url, `its answer is not HTTP (${code})`, { reason: code });
  if (code.startsWith('Z_') || code.startsWith('ERR__ERROR') || code.startsWith('ERR_BROTLI')) {
    return failed(url, 'its compressed answer cannot be read', { reason: code });
  }
  const message = error instanceof Error && error.message !== '' ? error.message.slice(0, 200) : 'unknown';
  return failed(url, message.replace(/\.$/, ''), code === '' ? {} : { reason: code });
}

/** The server's own reason (its TLS alert): the error code is often a general one. */
function alertOf(error: unknown): string | undefined {
  const { code = '', message = '' } = error as { code?: unknown; message?: unknown };
  const said = `${String(code).replaceAll('_', ' ')} ${String(message)}`.toLowerCase();
  if (said.includes('alert no application protocol')) return ONLY_HTTP2;
  return said.includes('alert certificate required') ? 'it demands a certificate of its clients' : undefined;
}

/** Without TLS, a server of HTTP/2 begins with its settings. */
function isHttp2Frame(error: unknown): boolean {
  const { rawPacket } = error as { rawPacket?: unknown };
  if (!Buffer.isBuffer(rawPacket) || rawPacket.length < FRAME_HEAD) return false;
  return rawPacket[3] === SETTINGS && rawPacket.readUInt32BE(5) === 0;
}

const SETTINGS = 4;
/** Bytes: the length, the type, the flags and the stream of a frame. */
const FRAME_HEAD = 9;
const ONLY_HTTP2 = 'it speaks only HTTP/2, and requests are sent in HTTP/1.1';

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'no connection could be made in time',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ENOTFOUND: 'its host has no address',
  EAI_AGAIN: 'its host cannot be looked up now',
  EPROTO: 'no TLS connection could be made: it speaks no TLS, or only forms that are not accepted here',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was cut',
};

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code } = error as { code?: unknown };
  // Every address was tried; one failure represents all.
  if (error instanceof AggregateError && code === undefined) return codeOf(error.errors[0]);
  return typeof code === 'string' ? code : '';
}

function isCertificateFault(code: string): boolean {
  return (
    /^(?:CERT_|ERR_TLS_CERT|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/.test(
      code,
    ) || code === 'CRL_HAS_EXPIRED'
  );
}
