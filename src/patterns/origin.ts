import type { CallOrigins, Origin } from '../contract/origin.js';
import { readHost } from './host.js';

/** Text from outside, which may have been written to steer a model. */
export function isUntrusted(origin: Origin): boolean {
  return origin.startsWith('web:') || origin.startsWith('mcp:') || origin.startsWith('program:');
}

/** Data that the person would not give away: files of the roots, and output of commands, which may contain any data. */
export function isPrivate(origin: Origin): boolean {
  return origin === 'workspace' || origin === 'command';
}

/** `web:*` stands for every host, `*` for every origin; `web:*.example.com` for the hosts below one. */
export function matchesOrigin(pattern: string, origin: Origin): boolean {
  if (pattern === '*' || pattern === origin) return true;
  // A command that reached the network may have read data from any host.
  if (origin === 'web:*') return pattern.startsWith('web:');
  const star = pattern.indexOf('*');
  if (star === -1) return false;
  return (
    origin.length >= pattern.length - 1 &&
    origin.startsWith(pattern.slice(0, star)) &&
    origin.endsWith(pattern.slice(star + 1))
  );
}

/** The pattern with its host in the form in which origins state hosts: lower case, ASCII, without a final dot. */
export function canonicalOriginPattern(pattern: string): string {
  const [, below = '', host = ''] = /^web:(\*\.)?([^*/?#@:\\]+|\[[^\]]+\])$/.exec(pattern) ?? [];
  const canonical = host === '' ? '' : readHost(`http://${host}/`).host;
  return canonical === '' ? pattern : `web:${below}${canonical}`;
}

export function isOriginPattern(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^(?:\*|user|workspace|command|(?:program|mcp|web):[^\s*]*\*?[^\s*]*)$/.test(value) &&
    !value.endsWith(':')
  );
}

/** `web:*` is also an origin: that of a command that reached the network, so of any host. */
export function isOrigin(value: unknown): value is Origin {
  return isOriginPattern(value) && (value === 'web:*' || !value.includes('*'));
}

/** `/to came from web:example.org, line 14 of toolu_01`. */
export function describeOrigins(pointers: readonly string[], { args, places }: CallOrigins): string {
  return pointers
    .slice(0, 3)
    .map((pointer) => {
      const place = places[pointer];
      return `${pointer} came from ${listOrigins(args[pointer] ?? [])}${place === undefined ? '' : `, ${place}`}`;
    })
    .join('; ');
}

export function listOrigins(origins: readonly Origin[]): string {
  const shown = origins.slice(0, 3).join(', ');
  return origins.length > 3 ? `${shown} and ${origins.length - 3} more` : shown;
}
