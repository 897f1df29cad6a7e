import { expand } from 'brace-expansion';

const MAX_ALTERNATIVES = 1000;
const MAX_DEPTH = 32;

/**
 * Expands the braces of a glob, with ripgrep's rules: `{a,b}` is either, `{a}` is `a`, and braces may nest.
 * `{1..3}` is a range, as in bash. The braces are balanced; characters quoted by `\` or a class stay.
 * @throws Error for empty braces, and for too many alternatives.
 */
export function expandBraces(source: string): readonly string[] {
  return source.includes('{') ? readSequence(source, 0, 0).texts : [source];
}

/** One reading of a text, up to its end or to the comma or brace that ends it. */
interface Sequence {
  readonly texts: readonly string[];
  readonly end: number;
}

function readSequence(source: string, start: number, depth: number): Sequence {
  if (depth > MAX_DEPTH) throw new Error(`its braces are nested more than ${MAX_DEPTH} deep`);
  let texts: readonly string[] = [''];
  let at = start;
  while (at < source.length) {
    const character = source[at];
    if (depth > 0 && (character === ',' || character === '}')) break;
    if (character !== '{') {
      const end = plainEnd(source, at);
      const plain = source.slice(at, end);
      texts = texts.map((text) => text + plain);
      at = end;
      continue;
    }
    const { texts: chosen, end } = readBraces(source, at, depth);
    if (texts.length * chosen.length > MAX_ALTERNATIVES) throw tooMany();
    texts = texts.flatMap((text) => chosen.map((one) => text + one));
    at = end;
  }
  return { texts, end: at };
}

/** From a `{` to after its `}`. */
function readBraces(source: string, open: number, depth: number): Sequence {
  const [range] = RANGE.exec(source.slice(open, open + MAX_RANGE)) ?? [];
  if (range !== undefined) {
    const texts = expand(range, { max: MAX_ALTERNATIVES + 1 });
    if (texts.length > MAX_ALTERNATIVES) throw tooMany();
    return { texts, end: open + range.length };
  }
  const texts: string[] = [];
  let at = open;
  do {
    const alternative = readSequence(source, at + 1, depth + 1);
    texts.push(...alternative.texts);
    if (texts.length > MAX_ALTERNATIVES) throw tooMany();
    at = alternative.end;
  } while (source[at] === ',');
  if (at === open + 1)
    throw new Error('the braces {} hold nothing (write \\{\\} for the characters themselves)');
  return { texts, end: at + 1 };
}

const RANGE = /^\{(?:-?\d+\.\.-?\d+|[A-Za-z]\.\.[A-Za-z])(?:\.\.-?\d+)?\}/;
const MAX_RANGE = 64;

function tooMany(): Error {
  return new Error(`its braces stand for more than ${MAX_ALTERNATIVES} alternatives`);
}

/** The position after one character, or after a quoted character or class. */
function plainEnd(source: string, at: number): number {
  if (source[at] === '\\') return Math.min(at + 2, source.length);
  return (source[at] === '[' ? classEnd(source, at) : at) + 1;
}

/** The end of a class; its start if it has no end, which is reported when the part is parsed. */
export function classEnd(source: string, start: number): number {
  let at = start + 1;
  if (source[at] === '!' || source[at] === '^') at++;
  for (at++; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === ']') return at;
  }
  return start;
}
