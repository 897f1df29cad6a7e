import type { RE2JS } from 're2js';
import packages from '../base/large-packages.cjs';
import { showText, showValue } from './show-value.js';

/** The operations of a compiled pattern that a validator needs. */
export interface LinearPattern {
  test(text: string): boolean;
  /** The pattern text. Ajv uses it as the key of this object. */
  toString(): string;
}

/** White space of ECMA-262; RE2's \s has only five of these characters. */
const SPACE =
  '\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
/** Letters with the same meaning after a backslash. */
const SAME_IN_BOTH = 'BbDdWwfnrtx';
const ANYTHING = '[\\x{0}-\\x{10ffff}]';
const NOTHING = '[^\\x{0}-\\x{10ffff}]';
const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]';

/** The limit for the steps of a pattern; matching costs steps times text length. */
const MAX_STEPS = 5_000;
const REMEDY =
  'Write it without look-around and back references, and with no repetition above 1000 (use maxLength for that).';

/** It looks at each character once: V8 matches it in linear time too, and faster. */
const ONE_CLASS = /^\\[dDsSwW]$/;

/**
 * Compiles an ECMA-262 pattern for linear-time matching of any text.
 *
 * @throws Error for an invalid pattern, or for look-around and back-references, which linear matching does
 * not support.
 */
export function compileLinearPattern(
  pattern: string,
  options: { readonly ignoreCase?: boolean } = {},
): LinearPattern {
  const flags = findSyntaxFault(pattern, 'u') === undefined ? 'u' : '';
  const fault = findSyntaxFault(pattern, flags);
  if (fault !== undefined)
    throw new Error(`the pattern ${showValue(pattern)} is not a regular expression: ${fault}.`);
  if (ONE_CLASS.test(pattern)) {
    const expression = new RegExp(pattern, 'u');
    return { test: (text) => expression.test(text), toString: () => pattern };
  }
  if (countRepetitions(pattern) > MAX_STEPS)
    throw new Error(`the pattern ${showValue(pattern)} is too large. ${REMEDY}`);
  let compiled: RE2JS;
  try {
    const { RE2JS } = packages.re2js();
    const syntax = toRe2Syntax(pattern, flags);
    compiled =
      options.ignoreCase === true ? RE2JS.compile(syntax, RE2JS.CASE_INSENSITIVE) : RE2JS.compile(syntax);
  } catch (cause) {
    throw new Error(`the pattern ${showValue(pattern)} cannot be matched in linear time. ${REMEDY}`, {
      cause,
    });
  }
  if (compiled.programSize() > MAX_STEPS)
    throw new Error(`the pattern ${showValue(pattern)} is too large. ${REMEDY}`);
  return { test: (text) => compiled.test(text), toString: () => pattern };
}

/** Computes the unrolled size of a pattern without unrolling it, which could take seconds. */
function countRepetitions(pattern: string): number {
  let count = pattern.length;
  for (const [, times] of pattern.matchAll(/(\d+)\}/g)) count += Number(times);
  return count;
}

/** Lets V8 check the syntax: the pattern is compiled and never run. */
function findSyntaxFault(pattern: string, flags: 'u' | ''): string | undefined {
  try {
    new RegExp(pattern, flags);
    return undefined;
  } catch (error) {
    return error instanceof Error ? showText(error.message, 120) : 'it cannot be compiled';
  }
}

/**
 * One token of a pattern: an escape that RE2 writes differently (its parts are captured), any other escape, a
 * named group, a class delimiter, or a plain character.
 */
const TOKEN = new RegExp(
  [
    /\\u\{([0-9a-fA-F]+)\}/,
    /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/,
    /\\u([0-9a-fA-F]{4})/,
    /\\c([A-Za-z])/,
    /\\([A-Za-z0-9])/,
    /\\[\s\S]/,
    /\(\?<(?![=!])/,
    /\[\^?\]?/,
    /[\s\S]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

function toRe2Syntax(pattern: string, flags: 'u' | ''): string {
  let inClass = false;
  return pattern.replace(TOKEN, (token: string, ...parts: readonly (string | undefined)[]) => {
    const [braced, high, low, plain, control, letter] = parts;
    const code = braced ?? plain;
    if (code !== undefined) return `\\x{${code}}`;
    if (high !== undefined && low !== undefined) return `\\x{${joinSurrogates(high, low).toString(16)}}`;
    if (control !== undefined) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`;
    if (letter !== undefined) return translateEscape(letter, inClass, flags);
    if (token.startsWith('[')) {
      const opened = openClass(token, inClass);
      inClass = opened.inClass;
      return opened.text;
    }
    if (token === ']') inClass = false;
    return inClass ? token : translatePlain(token);
  });
}

/** A bracket with a following `^` and `]`, if present. */
function openClass(token: string, inClass: boolean): { text: string; inClass: boolean } {
  // RE2 would read `[[:alpha:]]` as a named class; in ECMA-262 the inner bracket is a character.
  if (inClass) return { text: `\\${token}`, inClass: !token.endsWith(']') };
  if (token === '[]') return { text: NOTHING, inClass: false };
  if (token === '[^]') return { text: ANYTHING, inClass: false };
  return { text: token, inClass: true };
}

function translatePlain(token: string): string {
  if (token === '.') return NO_LINE_END;
  return token === '(?<' ? '(?P<' : token;
}

function joinSurrogates(high: string, low: string): number {
  return 0x10000 + ((Number.parseInt(high, 16) - 0xd800) << 10) + (Number.parseInt(low, 16) - 0xdc00);
}

/** Only letters and digits: any other escaped character means itself in both. */
function translateEscape(letter: string, inClass: boolean, flags: 'u' | ''): string {
  if (letter === 's' || letter === 'S') {
    const members = letter === 's' ? SPACE : NO_SPACE;
    return inClass ? members : `[${members}]`;
  }
  if (letter === 'v') return '\\x{b}';
  if (letter === '0') return '\\x{0}';
  if (letter === 'b' && inClass) return '\\x{8}';
  if (SAME_IN_BOTH.includes(letter) || (flags === 'u' && 'pP'.includes(letter))) return `\\${letter}`;
  // Without `u`, ECMA-262 may treat it as the letter itself, and RE2 as something else.
  throw new Error(`\\${letter} is not known`);
}
