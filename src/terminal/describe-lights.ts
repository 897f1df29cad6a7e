import type { Lights } from '../contract/origin.js';
import { sanitize } from '../output/sanitize.js';

/** Three marks, lit or not, with their causes. Nothing if only one is lit and it is not `untrusted`. */
export function describeLights({ private: own, untrusted, out }: Lights): string {
  const lit = [own, untrusted, out].filter(({ length }) => length > 0).length;
  if (untrusted.length === 0 && lit < 2) return '';
  return [
    light('private data read', own),
    light('text from outside seen', untrusted),
    light('a way out', out),
  ].join(' · ');
}

/** All three: a text from outside could make data leave. */
export function areAllLit({ private: own, untrusted, out }: Lights): boolean {
  return own.length > 0 && untrusted.length > 0 && out.length > 0;
}

const MOST_NAMED = 2;

function light(name: string, by: readonly string[]): string {
  if (by.length === 0) return `○ ${name}`;
  const named = by.slice(0, MOST_NAMED).map((one) => sanitize(one, 'inline').slice(0, 60));
  const more = by.length > MOST_NAMED ? ` and ${by.length - MOST_NAMED} more` : '';
  return `● ${name} (${named.join(', ')}${more})`;
}
