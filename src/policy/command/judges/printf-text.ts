import { exactText, type Field } from '../field.js';
import { NOTHING, type Stream, textStream, UNKNOWN } from '../stream.js';

/** What `printf FORMAT ARGUMENT…` prints, when it can be told. */
export function printfText(words: readonly Field[]): Stream {
  const texts = words.map(exactText);
  const [format, ...args] = texts;
  if (format === undefined || format.length > MAX_FORMAT || args.length > MAX_ARGUMENTS) return UNKNOWN;
  let text = '';
  let rest = args;
  do {
    const round = formatOnce(format, rest);
    if (round === undefined) return UNKNOWN;
    text += round.text;
    if (rest.length === round.rest.length) break;
    rest = round.rest;
  } while (rest.length > 0 && text.length < MAX_TEXT);
  return text === '' ? NOTHING : textStream(text);
}

const MAX_FORMAT = 4_096;
const MAX_ARGUMENTS = 256;
const MAX_TEXT = 65_536;

function formatOnce(
  format: string,
  args: readonly (string | undefined)[],
): { text: string; rest: (string | undefined)[] } | undefined {
  let used = 0;
  let isKnown = true;
  const text = unescapeText(format).replaceAll(
    /%%|%[-+ #0]*(\d*)(?:\.(\d+))?([a-zA-Z])/g,
    (match, _width, precision, kind) => {
      if (match === '%%') return '%';
      const isGiven = used < args.length;
      const argument = isGiven ? args[used] : '';
      used++;
      const shown = argument === undefined ? undefined : formatOne(String(kind), argument, precision);
      if (shown === undefined) isKnown = false;
      return shown ?? '';
    },
  );
  return isKnown ? { text, rest: args.slice(used) } : undefined;
}

function formatOne(kind: string, argument: string, precision: unknown): string | undefined {
  const number =
    argument.startsWith("'") || argument.startsWith('"') ? argument.charCodeAt(1) : Number(argument);
  switch (kind) {
    case 's':
      return typeof precision === 'string' ? argument.slice(0, Number(precision)) : argument;
    case 'b':
      return unescapeText(argument);
    case 'c':
      return argument.slice(0, 1);
    case 'd':
    case 'i':
    case 'u':
      return Number.isInteger(number) ? String(number) : undefined;
    case 'o':
      return Number.isInteger(number) && number >= 0 ? number.toString(8) : undefined;
    case 'x':
      return Number.isInteger(number) && number >= 0 ? number.toString(16) : undefined;
    case 'X':
      return Number.isInteger(number) && number >= 0 ? number.toString(16).toUpperCase() : undefined;
    default:
      return undefined;
  }
}

/** The escapes of `printf`, `echo -e` and `tr`. */
export function unescapeText(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|0?([0-7]{1,3})|([abefnrtv\\"'?E]))/g,
    (
      _match,
      hex: string | undefined,
      short: string | undefined,
      long: string | undefined,
      octal: string | undefined,
      letter: string,
    ) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      const code = hex ?? short ?? long;
      if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
      return LETTERS[letter] ?? letter;
    },
  );
}

const LETTERS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
