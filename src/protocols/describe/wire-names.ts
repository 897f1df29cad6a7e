import { createHash } from 'node:crypto';
import type { WireFormat } from '../wire-format.js';

/** What a provider accepts as a tool's name. Left out: anything. */
interface NameRule {
  /** One character that may stand anywhere but first. */
  readonly allowed: RegExp;
  readonly first: RegExp;
}

/** The longest that every version of every provider takes. */
const MAX_LENGTH = 64;
const WORD: NameRule = { allowed: /[A-Za-z0-9_-]/, first: /[A-Za-z0-9_-]/ };

const RULES: Readonly<Record<WireFormat, NameRule | undefined>> = {
  native: undefined,
  fenced: undefined,
  anthropic: WORD,
  openai: WORD,
  'openai-responses': WORD,
  gemini: { allowed: /[A-Za-z0-9_.:-]/, first: /[A-Za-z_]/ },
};

/**
 * What each tool is called in a format, by its own name. A name that the provider takes stays; another becomes what
 * is left of it and a hash of the whole. The same set of names gives the same, whatever its order, and no two alike.
 */
export function wireNames(format: WireFormat, names: readonly string[]): ReadonlyMap<string, string> {
  const rule = RULES[format];
  if (rule === undefined) return new Map(names.map((name) => [name, name]));
  const kept = new Set(names.filter((name) => isAccepted(name, rule)));
  const taken = new Set(kept);
  const wire = new Map<string, string>();
  for (const name of [...new Set(names)].sort()) {
    const shown = kept.has(name) ? name : shorten(name, rule, taken);
    taken.add(shown);
    wire.set(name, shown);
  }
  return wire;
}

function isAccepted(name: string, { allowed, first }: NameRule): boolean {
  if (name === '' || name.length > MAX_LENGTH || !first.test(name.charAt(0))) return false;
  return [...name].every((character) => allowed.test(character));
}

const HASH_LENGTH = 8;

function shorten(name: string, rule: NameRule, taken: ReadonlySet<string>): string {
  const readable = toReadable(name, rule);
  for (let attempt = 0; ; attempt++) {
    // A lone surrogate would be hashed like any other.
    const salted = JSON.stringify(attempt === 0 ? name : [name, attempt]);
    const hash = createHash('sha256').update(salted).digest('hex').slice(0, HASH_LENGTH);
    const shown = `${readable}_${hash}`;
    if (!taken.has(shown)) return shown;
  }
}

function toReadable(name: string, { allowed, first }: NameRule): string {
  // A name may be of any length; no more of it than this can be shown.
  const head = [...name.slice(0, MAX_LENGTH)].map((character) => (allowed.test(character) ? character : '_'));
  const text = head.join('');
  const started = first.test(text.charAt(0)) ? text : `_${text}`;
  return started.slice(0, MAX_LENGTH - HASH_LENGTH - 1);
}
