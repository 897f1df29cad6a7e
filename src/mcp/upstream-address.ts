import type { Question } from '../contract/question.js';
import { sanitize } from '../output/sanitize.js';

const MOST_CHARACTERS = 2_000;

/** An address that a server wants the person to open. */
export interface Address {
  /** In a browser's spelling: a host name in another script appears in its ASCII form. */
  readonly href: string;
  readonly host: string;
}

/**
 * Undefined: not a web address, an address with a user before the host (`https://bank.test@evil.test`), or one that is
 * too long to read.
 */
export function readAddress(url: unknown): Address | undefined {
  if (typeof url !== 'string' || url.length > MOST_CHARACTERS || !URL.canParse(url)) return undefined;
  const { protocol, username, password, href, host } = new URL(url);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && username === '' && password === '' ? { href, host } : undefined;
}

/** The person sees the whole address and its host. toolexec never opens it. */
export function addressQuestion(server: string, message: string, { href, host }: Address): Question {
  const said = sanitize(message).slice(0, MOST_CHARACTERS);
  return {
    header: server,
    question:
      `The MCP server ${server} asks you to open an address of ${host} in your browser: ${said}\n${href}\n` +
      'Open it only if you trust that host. Answer when you have finished there.',
    options: [{ label: 'Opened' }, { label: 'Decline' }],
    multiSelect: false,
    form: { kind: 'consent' },
  };
}

/** Addresses in a server's error, if it runs a call only after a visit there. */
export function addressesIn(data: unknown): readonly Address[] {
  const { elicitations } = (data ?? {}) as { readonly elicitations?: unknown };
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, MOST_ADDRESSES).flatMap((entry: unknown) => {
    const address = readAddress((entry as { readonly url?: unknown } | null)?.url);
    return address === undefined ? [] : [address];
  });
}

const MOST_ADDRESSES = 3;
