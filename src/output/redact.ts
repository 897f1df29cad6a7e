import {
  checkOptions,
  isBoolean,
  isText,
  isTextList,
  type OptionRules,
  option,
  requireArgument,
} from '../base/normalize-options.js';
import { REDACTION_MARKER } from '../contract/call.js';
import { createExactValues, type ExactValues, redactValues } from './create-redactor.js';
import { ASSIGNMENT_WORDS, hideAssignments } from './hide-assignments.js';
import { SECRET_CONTEXTS, SECRET_SHAPES, type SecretShape } from './secret-shapes.js';

interface Rule {
  readonly name: string;
  readonly words: readonly string[];
  apply(text: string): string;
}

/**
 * In this order: rules that use the surrounding text come first, so that a key inside a value is hidden with
 * the value.
 */
const RULES: readonly Rule[] = [
  { name: 'private-key', words: ['private key'], apply: hidePrivateKeys },
  ...SECRET_CONTEXTS.map(toRule),
  { name: 'assignment', words: ASSIGNMENT_WORDS, apply: hideAssignments },
  ...SECRET_SHAPES.map(toRule),
];

let scanner: KeywordScanner | undefined;

/**
 * Building the scanner costs as much as searching a hundred short texts without it, so programs with few
 * texts do not build it.
 */
let unscanned = 64;
const SHORT = 256;

const MOST_ROUNDS = 4;

export interface RedactOptions {
  /**
   * Exact strings to hide, such as values of secret environment variables. Values shorter than 6
   * characters, and common words such as "password", are ignored, because they would hide ordinary text.
   */
  readonly values?: readonly string[];
  /** False hides only the values, as in file contents (F024). Default true. */
  readonly rules?: boolean;
}

/**
 * Replaces secrets by `[REDACTED]` (D026, F024): the given values, and keys, tokens and passwords that known
 * rules detect. Takes linear time. Redacting twice changes nothing. No list of rules is complete.
 * @throws ToolError `config_invalid` if `text` is not a string, and for an unknown option or an invalid value
 */
export function redact(text: string, options: RedactOptions = {}): string {
  requireArgument('redact()', text, isText, 'a text');
  checkOptions('redact', options, OPTIONS);
  const values = options.values ?? [];
  const clean = values.length === 0 ? text : redactValues(text, exactValuesOf(values));
  return options.rules === false ? clean : redactByRules(clean);
}

const OPTIONS: OptionRules<Required<RedactOptions>> = {
  values: option<readonly string[]>([], isTextList, 'a list of strings'),
  rules: option(true, isBoolean, 'true or false'),
};

interface Prepared {
  readonly values: readonly string[];
  readonly exact: ExactValues;
}

const prepared = new WeakMap<readonly string[], Prepared>();

/** The prepared search for an array, reused as long as its values stay the same. */
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
 * Repeats until nothing changes: after one key is hidden, a name next to it may be recognized. So redacting
 * the result finds nothing. A text that needs more rounds was built for that.
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
  if (text === '') return text;
  if (scanner === undefined && text.length <= SHORT && unscanned > 0) {
    unscanned--;
    const lower = text.toLowerCase();
    return applyWhere(text, ({ words }) => words.some((word) => lower.includes(word)));
  }
  scanner ??= createKeywordScanner(RULES.map((rule) => rule.words));
  const found = scanner.scan(text);
  return found === undefined ? text : applyWhere(text, (_rule, index) => found.has(index));
}

function applyWhere(text: string, isNeeded: (rule: Rule, index: number) => boolean): string {
  return RULES.reduce((clean, rule, index) => (isNeeded(rule, index) ? rule.apply(clean) : clean), text);
}

function toRule({ name, words, pattern, isSecret }: SecretShape): Rule {
  return {
    name,
    words,
    apply: (text) =>
      text.replace(pattern(), (match, ...rest) => {
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

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;

/** Base64 lines after a header whose end line is missing. A line break may be written as \n. */
const CUT_BODY =
  /(?:(?:\\[nr]|[ \t\r\n]){1,16}[A-Za-z0-9+/=]{16,})+(?:(?:\\[nr]|[ \t\r\n]){1,16}[A-Za-z0-9+/]{1,15}={0,2}(?![A-Za-z0-9]))?/y;

/**
 * Hides everything between the first and last line of private keys in PEM and PGP armour, in any form
 * (quoted, indented, numbered lines). For a key without a last line, everything that can be part of it is
 * hidden.
 */
function hidePrivateKeys(text: string): string {
  let out = '';
  let copied = 0;
  BEGIN.lastIndex = 0;
  for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
    const bodyAt = BEGIN.lastIndex;
    const bodyEnd = endOfBody(text, bodyAt);
    if (bodyEnd <= bodyAt) continue;
    out += text.slice(copied, bodyAt) + REDACTION_MARKER;
    copied = bodyEnd;
    BEGIN.lastIndex = bodyEnd;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function endOfBody(text: string, from: number): number {
  // The next line of dashes is the last line, or the key has none. So each part is read once.
  const dashes = text.indexOf('-----', from);
  END.lastIndex = dashes;
  if (dashes >= 0 && END.exec(text)?.index === dashes) return dashes;
  CUT_BODY.lastIndex = from;
  return CUT_BODY.test(text) ? CUT_BODY.lastIndex : from;
}

interface KeywordScanner {
  /** The groups with a word in the text, or undefined if there are none. Ignores case. */
  scan(text: string): ReadonlySet<number> | undefined;
}

/**
 * Searches for many ASCII words in one pass (Aho and Corasick). The text is read once for any number of
 * rules, and only rules with a matching word read it again.
 */
function createKeywordScanner(groups: readonly (readonly string[])[]): KeywordScanner {
  const symbols = symbolTable(groups.flat().join(''));
  const width = Math.max(...symbols) + 1;
  const { next, hits } = buildAutomaton(groups, symbols, width);
  return {
    scan(text) {
      let found: Set<number> | undefined;
      let state = 0;
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        state = next[state * width + (code < 128 ? (symbols[code] ?? 0) : 0)] ?? 0;
        const hit = hits[state];
        if (hit === undefined) continue;
        found ??= new Set();
        for (const group of hit) found.add(group);
      }
      return found;
    },
  };
}

/** Each letter of the words gets a small number, equal for both cases; all others are 0. */
function symbolTable(letters: string): Uint8Array {
  const symbols = new Uint8Array(128);
  [...new Set(letters.toLowerCase())].forEach((letter, index) => {
    symbols[letter.charCodeAt(0)] = index + 1;
    symbols[letter.toUpperCase().charCodeAt(0)] = index + 1;
  });
  return symbols;
}

interface Automaton {
  /** The state after a symbol in a state. */
  readonly next: Uint16Array;
  /** The groups whose words end in a state. */
  readonly hits: readonly (readonly number[] | undefined)[];
}

function buildAutomaton(
  groups: readonly (readonly string[])[],
  symbols: Uint8Array,
  width: number,
): Automaton {
  const next = new Uint16Array((groups.flat().join('').length + 1) * width);
  const hits: (number[] | undefined)[] = [undefined];
  groups.forEach((words, group) => {
    for (const word of words) {
      let state = 0;
      for (const letter of word) {
        const slot = state * width + (symbols[letter.charCodeAt(0)] ?? 0);
        if (next[slot] === 0) next[slot] = hits.push(undefined) - 1;
        state = next[slot] ?? 0;
      }
      hits[state] = [...(hits[state] ?? []), group];
    }
  });
  linkFailures(next, hits, width);
  return { next, hits };
}

/**
 * After a mismatch, the longest suffix that starts a word continues. Breadth first, so shorter suffixes are
 * ready.
 */
function linkFailures(next: Uint16Array, hits: (number[] | undefined)[], width: number): void {
  const fallback = new Uint16Array(hits.length);
  const queue = [0];
  for (const state of queue) {
    for (let symbol = 1; symbol < width; symbol++) {
      const slot = state * width + symbol;
      const child = next[slot] ?? 0;
      const elsewhere = state === 0 ? 0 : (next[(fallback[state] ?? 0) * width + symbol] ?? 0);
      if (child === 0) {
        next[slot] = elsewhere;
        continue;
      }
      fallback[child] = elsewhere;
      const inherited = hits[elsewhere];
      if (inherited !== undefined) hits[child] = [...(hits[child] ?? []), ...inherited];
      queue.push(child);
    }
  }
}
