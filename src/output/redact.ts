import { REDACTION_MARKER } from '../contract/call.js';
import { createKeywordScanner } from './create-keyword-scanner.js';
import { redactValues } from './create-redactor.js';
import { createExactValues, type ExactValues } from './exact-values.js';
import { ASSIGNMENT_WORDS, hideAssignments } from './hide-assignments.js';
import { hidePrivateKeys } from './hide-private-keys.js';
import { SECRET_CONTEXTS } from './secret-contexts.js';
import { SECRET_SHAPES, type SecretShape } from './secret-shapes.js';

interface Rule {
  readonly name: string;
  readonly words: readonly string[];
  apply(text: string): string;
}

/** In order: what is known by its surroundings goes first, so that a key inside of a value goes with the value. */
const RULES: readonly Rule[] = [
  { name: 'private-key', words: ['private key'], apply: hidePrivateKeys },
  ...SECRET_CONTEXTS.map(toRule),
  { name: 'assignment', words: ASSIGNMENT_WORDS, apply: hideAssignments },
  ...SECRET_SHAPES.map(toRule),
];

const scanner = createKeywordScanner(RULES.map((rule) => rule.words));

const MOST_ROUNDS = 4;

export interface RedactOptions {
  /** Exact strings to hide, as the values of secret environment variables. */
  readonly values?: readonly string[];
  /** False hides the values only, as in the contents of files (decision 24). Default true. */
  readonly rules?: boolean;
}

/**
 * Hides secrets behind `[REDACTED]` (D026, decision 24): the given values, and what well-known rules tell to be a key,
 * token or password. Takes time linear in the text. Redacting twice changes nothing. No list of rules is complete.
 */
export function redact(text: string, options: RedactOptions = {}): string {
  const values = options.values ?? [];
  const clean = values.length === 0 ? text : redactValues(text, exactValuesOf(values));
  return options.rules === false ? clean : redactByRules(clean);
}

interface Prepared {
  readonly values: readonly string[];
  readonly exact: ExactValues;
}

const prepared = new WeakMap<readonly string[], Prepared>();

/** What is looked for, prepared once for an array as long as its values stay the same. */
export function exactValuesOf(values: readonly string[]): ExactValues {
  const known = prepared.get(values);
  if (known !== undefined && isSame(known.values, values)) return known.exact;
  const exact = createExactValues(values);
  prepared.set(values, { values: [...values], exact });
  return exact;
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

/**
 * Until nothing changes: a hidden key may have been glued to a name that is recognised only now. So redacting the
 * result again finds nothing. What takes more rounds was made to take them.
 */
function redactByRules(text: string): string {
  let clean = text;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = applyRules(clean);
    if (next === clean) return clean;
    clean = next;
  }
  return clean;
}

function applyRules(text: string): string {
  const found = scanner.scan(text);
  if (found === undefined) return text;
  return RULES.reduce((clean, rule, index) => (found.has(index) ? rule.apply(clean) : clean), text);
}

function toRule({ name, words, pattern, isSecret }: SecretShape): Rule {
  return {
    name,
    words,
    apply: (text) =>
      text.replace(pattern, (match, ...rest) => {
        const before = beforeOf(rest.at(-1));
        const isHidden = isSecret === undefined || isSecret(match.slice(before.length));
        return isHidden ? before + REDACTION_MARKER : match;
      }),
  };
}

function beforeOf(groups: unknown): string {
  if (typeof groups !== 'object' || groups === null || !('before' in groups)) return '';
  return typeof groups.before === 'string' ? groups.before : '';
}
