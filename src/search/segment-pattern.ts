import { ToolError } from '../errors/tool-error.js';

/** One component of a glob, ready to be compared with one name. */
export interface SegmentPattern {
  /** `**`: any number of directories. */
  readonly isGlobstar: boolean;
  /** What it matches, where that is one name only. */
  readonly literal: string | undefined;
  /** It spells out a dot at its beginning, which wildcards do not stand for unless hidden names are wanted. */
  readonly beginsWithDot: boolean;
  readonly tokens: readonly Token[];
  matches(name: string): boolean;
}

export type Token =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly CodeRange[] };

type CodeRange = readonly [first: number, last: number];

/**
 * Reads one component. Matching takes time proportional to both lengths, whatever the pattern: no regular expression
 * is made of it.
 * @throws ToolError `bad_args` for a class that is not closed and a backslash before nothing
 */
export function parseSegment(source: string): SegmentPattern {
  const tokens = source === '**' ? [STAR] : tokenize(source);
  const literal = tokens.every((token) => token.kind === 'char') ? textOf(tokens) : undefined;
  const first = tokens[0];
  return {
    isGlobstar: source === '**',
    literal,
    beginsWithDot: first?.kind === 'char' && first.code === DOT,
    tokens,
    matches: matcherFor(tokens, literal),
  };
}

const DOT = 0x2e;
const STAR: Token = { kind: 'star' };
const ANY: Token = { kind: 'any' };

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < source.length; ) {
    const char = source[at] ?? '';
    if (char === '*') {
      // Several in a row say no more than one.
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
      at++;
    } else if (char === '?') {
      tokens.push(ANY);
      at++;
    } else if (char === '[') {
      const parsed = parseClass(source, at);
      tokens.push(parsed.token);
      at = parsed.end;
    } else {
      const from = char === '\\' ? at + 1 : at;
      const code = source.codePointAt(from);
      if (code === undefined) throw flaw(source, 'it ends in a lone backslash');
      tokens.push({ kind: 'char', code });
      at = from + width(code);
    }
  }
  return tokens;
}

const NAMED_CLASSES: Readonly<Record<string, readonly CodeRange[]>> = {
  alpha: [range('A', 'Z'), range('a', 'z')],
  digit: [range('0', '9')],
  alnum: [range('A', 'Z'), range('a', 'z'), range('0', '9')],
  upper: [range('A', 'Z')],
  lower: [range('a', 'z')],
  xdigit: [range('A', 'F'), range('a', 'f'), range('0', '9')],
  space: [range('\t', '\r'), range(' ', ' ')],
  punct: [range('!', '/'), range(':', '@'), range('[', '`'), range('{', '~')],
};

function parseClass(source: string, start: number): { readonly token: Token; readonly end: number } {
  const negated = source[start + 1] === '!' || source[start + 1] === '^';
  const ranges: CodeRange[] = [];
  let at = start + (negated ? 2 : 1);
  // A bracket that comes first is a member: `[]a]`.
  for (let isFirst = true; isFirst || source[at] !== ']'; isFirst = false) {
    if (at >= source.length) throw flaw(source, 'a "[" is not closed (write \\[ for the character itself)');
    const named = /^\[:([a-z]+):\]/.exec(source.slice(at, at + 16));
    const known = named?.[1] === undefined ? undefined : NAMED_CLASSES[named[1]];
    if (named !== null && known !== undefined) {
      ranges.push(...known);
      at += named[0].length;
      continue;
    }
    const low = memberAt(source, at);
    at = low.end;
    const isRange = source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']';
    const high = isRange ? memberAt(source, at + 1) : low;
    at = high.end;
    ranges.push([low.code, high.code]);
  }
  return { token: { kind: 'class', negated, ranges }, end: at + 1 };
}

function memberAt(source: string, at: number): { readonly code: number; readonly end: number } {
  const from = source[at] === '\\' ? at + 1 : at;
  const code = source.codePointAt(from);
  if (code === undefined) throw flaw(source, 'a "[" is not closed (write \\[ for the character itself)');
  return { code, end: from + width(code) };
}

function matcherFor(tokens: readonly Token[], literal: string | undefined): (name: string) => boolean {
  if (literal !== undefined) return (name) => name === literal;
  const [first] = tokens;
  if (tokens.length === 1 && first === STAR) return () => true;
  const rest = tokens.slice(1);
  // `*.ts` and `test*`: what most patterns are.
  if (first === STAR && rest.every((token) => token.kind === 'char')) {
    const tail = textOf(rest);
    return (name) => name.endsWith(tail);
  }
  const front = tokens.slice(0, -1);
  if (tokens.at(-1) === STAR && front.every((token) => token.kind === 'char')) {
    const head = textOf(front);
    return (name) => name.startsWith(head);
  }
  return (name) => matchTokens(tokens, name);
}

/** Goes back to the last star only: what came before it has matched, and no other way to match it could help. */
function matchTokens(tokens: readonly Token[], name: string): boolean {
  let at = 0;
  let index = 0;
  let starIndex = -1;
  let starAt = 0;
  while (at < name.length) {
    const token = tokens[index];
    const code = name.codePointAt(at) ?? 0;
    if (token?.kind === 'star') {
      starIndex = index++;
      starAt = at;
    } else if (token !== undefined && takes(token, code)) {
      index++;
      at += width(code);
    } else if (starIndex >= 0) {
      index = starIndex + 1;
      starAt += width(name.codePointAt(starAt) ?? 0);
      at = starAt;
    } else return false;
  }
  while (tokens[index]?.kind === 'star') index++;
  return index === tokens.length;
}

function takes(token: Token, code: number): boolean {
  if (token.kind === 'char') return token.code === code;
  if (token.kind !== 'class') return true;
  return token.ranges.some(([first, last]) => code >= first && code <= last) !== token.negated;
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map((token) => (token.kind === 'char' ? String.fromCodePoint(token.code) : '')).join('');
}

function range(first: string, last: string): CodeRange {
  return [first.charCodeAt(0), last.charCodeAt(0)];
}

function width(code: number): number {
  return code > 0xffff ? 2 : 1;
}

function flaw(source: string, why: string): ToolError {
  return new ToolError('bad_args', `Cannot use the pattern ${JSON.stringify(source)}: ${why}.`);
}
