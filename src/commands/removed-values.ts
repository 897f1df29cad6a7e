import { environmentIgnoresCase } from '../platform/environment.js';
import { classifyVariable } from './classify-variable.js';
import { findUserInfo } from './clean-value.js';

/** Shorter values are found everywhere: taking them out would spoil the output and hide nothing. */
const SHORTEST = 8;

/**
 * The secret values that `sanitizeEnvironment` kept from a command, longest first: output is searched for them.
 * Paths, sockets and programs that were removed are no secrets (`PAGER=/usr/bin/less`) and are left out.
 */
export function removedValues(
  env: Readonly<Record<string, string>>,
  sanitized: Readonly<Record<string, string>>,
): string[] {
  const values = Object.entries(env).flatMap(([name, value]) => {
    if (Object.hasOwn(sanitized, name)) return sanitized[name] === value ? [] : findUserInfo(value);
    return isSecret(name) ? [value, ...findUserInfo(value)] : [];
  });
  return [...new Set(values)]
    .filter((value) => value.length >= SHORTEST)
    .sort((one, other) => other.length - one.length);
}

/** What no rule of ours speaks of was removed by the configuration, which knows its secrets. */
function isSecret(name: string): boolean {
  return (classifyVariable(name, environmentIgnoresCase())?.kind ?? 'secret') === 'secret';
}
