import { isAbsolute } from 'node:path';

/**
 * What a command inherits of a variable's value, undefined when nothing.
 * A relative entry of `PATH` lets the working directory say what `ls` is; an address may carry a password.
 */
export function cleanValue(name: string, value: string): string | undefined {
  // No program can be started with a NUL, and old shells run what follows a function in any variable.
  if (value.includes('\0') || value.startsWith('() {')) return undefined;
  if (name === 'PATH') return value.split(':').filter(isAbsolute).join(':') || STANDARD_PATH;
  return value.replace(USER_INFO, (all, user: string, offset: number) =>
    isConfidential(user, value.slice(0, offset)) ? '://' : all,
  );
}

/** Where nothing is left: a shell without any `PATH` takes one of its own, which may end in the working directory. */
const STANDARD_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The names and passwords that `cleanValue` takes out of addresses, as they are written and decoded. */
export function findUserInfo(value: string): string[] {
  return [...value.matchAll(USER_INFO)]
    .filter(({ 1: user = '', index }) => isConfidential(user, value.slice(0, index)))
    .flatMap(({ 1: user = '' }) => [user, ...user.split(':', 2), user.slice(user.indexOf(':') + 1)])
    .flatMap((part) => [part, decodePart(part)]);
}

const USER_INFO = /:\/\/([^\s/?#]*)@/g;

/** `https://token@host` is a secret, `ssh://git@host` is not. */
function isConfidential(user: string, before: string): boolean {
  return user.includes(':') || /https?$/i.test(before.slice(-5));
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
