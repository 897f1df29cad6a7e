import { createHash } from 'node:crypto';
import { ToolError } from '../errors/tool-error.js';

/** The maximum length of a tool's name at the providers. */
const MOST_CHARACTERS = 64;
const SEPARATOR = '__';
const HASH_CHARACTERS = 10;
const HASHED = new RegExp(`_h[0-9a-f]{${HASH_CHARACTERS}}$`);

/**
 * A server's name. It contains no `__` and does not end in `_`, so the first `__` in a tool's name marks its end: two
 * servers can never produce the same name.
 */
export function serverNameFlaw(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(name)) return 'letters, digits, _ and - are expected; at most 32';
  if (name.includes(SEPARATOR) || name.endsWith('_') || name.startsWith('_'))
    return 'it must not begin or end with "_", nor contain "__"';
  return undefined;
}

/** @throws ToolError `config_invalid` */
export function requireServerName(name: string): void {
  const flaw = serverNameFlaw(name);
  if (flaw === undefined) return;
  throw new ToolError('config_invalid', `Cannot use the server name ${JSON.stringify(name)}: ${flaw}.`);
}

/**
 * `NAME__tool`. If a tool's name does not fit, or looks as if it ended in a hash, it gets a hash at its end: two tools
 * of a server can never get the same name.
 */
export function upstreamName(server: string, tool: string): string {
  const plain = `${server}${SEPARATOR}${tool}`;
  const fits = /^[A-Za-z0-9_-]+$/.test(tool) && plain.length <= MOST_CHARACTERS && !HASHED.test(tool);
  if (fits) return plain;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_CHARACTERS);
  const tail = `_h${hash}`;
  const cleaned = plain.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MOST_CHARACTERS - tail.length);
  return `${cleaned}${tail}`;
}
