import { JsonTextError } from './json-text-error.js';

export interface JsonTextLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
  /**
   * For callers that keep the text: accepts numbers that a double cannot hold, lone surrogates, and any key.
   */
  readonly keepsText?: boolean;
}

/** @throws JsonTextError unless `text` is one strict JSON value within the limits. */
export function checkJsonText(text: string, limits: JsonTextLimits): void {
  new Scanner(text, limits).scan();
}

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const SLASH = 47;
const ZERO = 48;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LETTER_U = 117;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/**
 * Matches the part of a string that needs no check. Far faster over long runs than a loop, slower over a few
 * characters.
 */
// oxlint-disable-next-line no-control-regex -- raw control characters are what a JSON string may not hold
const PLAIN = /[^"\\\u0000-\u001f\ud800-\udfff]*/y;
/**
 * The same with common escapes in the text: after one escape, many follow. Bounded, because matching stores the way back.
 */
// oxlint-disable-next-line no-control-regex -- as above
const ESCAPED = /(?:[^"\\\u0000-\u001f\ud800-\udfff]|\\["\\/bfnrt]){0,1000}/y;
/** By character code: 1 for a simple escape after a backslash. */
const SIMPLE_ESCAPES = Uint8Array.from({ length: 128 }, (_, code) =>
  '"\\/bfnrt'.includes(String.fromCharCode(code)) ? 1 : 0,
);
const LITERALS: { readonly [first: string]: string } = { t: 'true', f: 'false', n: 'null' };
const SHORT_RUN = 16;
/** Every integer with at most this many digits is exact. */
const EXACT_DIGITS = 15;

class Scanner {
  readonly #text: string;
  readonly #limits: JsonTextLimits;
  /** The open containers: the keys so far for an object, null for an array. */
  readonly #open: (Set<string> | null)[] = [];
  #at = 0;
  #values = 0;

  constructor(text: string, limits: JsonTextLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  scan(): void {
    if (this.#text.startsWith('\ufeff'))
      this.#fail(0, 'the text begins with a byte order mark. Leave it out.');
    do {
      while (!this.#enterValue());
    } while (this.#leaveValue());
  }

  /** Steps over the start of a value. False if it opened a container whose first value comes next. */
  #enterValue(): boolean {
    const code = this.#skipSpace();
    this.#values += 1;
    if (this.#values > this.#limits.maxValues) {
      this.#fail(this.#at, `there are more than ${this.#limits.maxValues} values. Send fewer at once.`);
    }
    if (code === QUOTE) {
      this.#skipString();
      return true;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) return this.#enterContainer(code);
    this.#skipScalar();
    return true;
  }

  #enterContainer(code: number): boolean {
    if (this.#open.length >= this.#limits.maxDepth) {
      this.#fail(this.#at, `nested deeper than ${this.#limits.maxDepth} levels. Send a flatter value.`);
    }
    this.#at += 1;
    const isObject = code === OPEN_BRACE;
    if (this.#skipSpace() === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
      this.#at += 1;
      return true;
    }
    const keys = isObject ? new Set<string>() : null;
    this.#open.push(keys);
    if (keys !== null) this.#skipKey(keys);
    return false;
  }

  /** Steps over the end of a value. True if another value comes next. */
  #leaveValue(): boolean {
    for (;;) {
      const code = this.#skipSpace();
      const keys = this.#open.at(-1);
      if (keys === undefined) {
        if (this.#at < this.#text.length) this.#fail(this.#at, this.#explainTrailing(code));
        return false;
      }
      if (code === (keys === null ? CLOSE_BRACKET : CLOSE_BRACE)) {
        this.#open.pop();
        this.#at += 1;
      } else if (code === COMMA) {
        this.#at += 1;
        if (keys !== null) this.#skipKey(keys);
        return true;
      } else {
        this.#fail(this.#at, this.#explain(`"," or "${keys === null ? ']' : '}'}"`));
      }
    }
  }

  #skipKey(keys: Set<string>): void {
    if (this.#skipSpace() !== QUOTE) this.#fail(this.#at, this.#explain('a key in double quotes'));
    const start = this.#at;
    const escaped = this.#skipString();
    const key = escaped
      ? String(JSON.parse(this.#text.slice(start, this.#at)))
      : this.#text.slice(start + 1, this.#at - 1);
    // A caller that keeps the text returns it unchanged, and a model may write any key.
    if (key === '__proto__' && this.#limits.keepsText !== true)
      this.#fail(start, 'the key "__proto__" is not allowed. Leave it out.');
    if (keys.has(key)) {
      this.#fail(start, `the key ${quote(key)} is given twice in one object. Give each key once.`);
    }
    keys.add(key);
    if (this.#skipSpace() !== COLON) this.#fail(this.#at, this.#explain('":" after the key'));
    this.#at += 1;
  }

  /** True if the string contains escapes, so its text differs from its value. */
  #skipString(): boolean {
    const text = this.#text;
    const start = this.#at;
    const end = text.length;
    let escaped = false;
    let at = start + 1;
    let runEnd = at + SHORT_RUN;
    while (at < end) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return escaped;
      }
      if (code === BACKSLASH) {
        escaped = true;
        // Texts that are quoted twice have many escapes: the common ones need no function call.
        at = SIMPLE_ESCAPES[text.charCodeAt(at + 1)] === 1 ? at + 2 : this.#skipEscape(at);
      } else if (code < SPACE) {
        this.#fail(at, `a raw ${nameControl(code)} inside a string. Write it as ${escapeControl(code)}.`);
      } else if ((code & 0xf800) === 0xd800) {
        at = this.#skipSurrogates(at, code, 1);
      } else if (at < runEnd) {
        at += 1;
        continue;
      } else {
        const run = escaped ? ESCAPED : PLAIN;
        run.lastIndex = at;
        run.test(text);
        at = run.lastIndex;
      }
      runEnd = at + SHORT_RUN;
    }
    return this.#fail(start, 'the string that begins here never ends. Close it with a double quote.');
  }

  #skipEscape(at: number): number {
    const text = this.#text;
    if (text.charCodeAt(at + 1) === LETTER_U) {
      const unit = readHex(text, at + 2);
      if (unit === -1) this.#fail(at, 'a broken escape. Write four hexadecimal digits after \\u.');
      return (unit & 0xf800) === 0xd800 ? this.#skipSurrogates(at, unit, 6) : at + 6;
    }
    return this.#fail(at, 'an escape that JSON does not know. Write a backslash itself as \\\\.');
  }

  /** Half of a pair may be raw or escaped: the string's value counts. */
  #skipSurrogates(at: number, unit: number, width: number): number {
    const text = this.#text;
    const next = at + width;
    const raw = text.charCodeAt(next);
    const isEscape = raw === BACKSLASH && text.charCodeAt(next + 1) === LETTER_U;
    const low = isEscape ? readHex(text, next + 2) : raw;
    if (unit >= 0xdc00 || !(low >= 0xdc00 && low <= 0xdfff)) {
      if (this.#limits.keepsText === true) return next;
      this.#fail(at, 'half of a surrogate pair inside a string. Write the whole character.');
    }
    return next + (isEscape ? 6 : 1);
  }

  #skipScalar(): void {
    const text = this.#text;
    const at = this.#at;
    const shortEnd = skipShortInteger(text, at);
    const literal = LITERALS[text.charAt(at)];
    if (shortEnd !== -1) {
      this.#at = shortEnd;
    } else if (literal !== undefined && text.startsWith(literal, at)) {
      this.#at += literal.length;
    } else {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(text)?.[0] ?? this.#fail(at, this.#explain('a value'));
      this.#at += this.#checkNumber(number);
    }
  }

  #checkNumber(number: string): number {
    if (/[0-9.eE+-]/.test(this.#text.charAt(this.#at + number.length))) {
      this.#fail(this.#at, `${quote(matchWord(this.#text, this.#at))} is not a JSON number.`);
    }
    const value = Number(number);
    if (this.#limits.keepsText === true) return number.length;
    if (!Number.isFinite(value)) {
      this.#fail(this.#at, `the number ${cut(number)} is too large. Send it as a string.`);
    }
    if (/^-?[0-9]+$/.test(number) && losesDigits(number, value)) {
      this.#fail(this.#at, `the integer ${cut(number)} would lose digits. Send it as a string.`);
    }
    return number.length;
  }

  #skipSpace(): number {
    const text = this.#text;
    let at = this.#at;
    let code = text.charCodeAt(at);
    while (code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB) {
      at += 1;
      code = text.charCodeAt(at);
    }
    this.#at = at;
    return code;
  }

  #explain(expected: string): string {
    if (this.#at >= this.#text.length) return `the text ends where ${expected} was expected.`;
    const came = this.#text.charAt(this.#at);
    if (came === "'") return `${expected} was expected. Use double quotes.`;
    if (this.#text.charCodeAt(this.#at) === SLASH) return `${expected} was expected. JSON has no comments.`;
    if (came === '}' || came === ']')
      return `${expected} was expected, not "${came}". Is there an extra comma?`;
    return `${expected} was expected, not ${quote(matchWord(this.#text, this.#at))}.`;
  }

  #explainTrailing(code: number): string {
    if (code === SLASH) return 'there is text after the value. JSON has no comments.';
    return `there is text after the value: ${quote(matchWord(this.#text, this.#at))}. Send only one value.`;
  }

  #fail(position: number, problem: string): never {
    throw new JsonTextError(this.#text, position, problem);
  }
}

function losesDigits(integer: string, value: number): boolean {
  if (Number.isSafeInteger(value)) return false;
  // JSON.stringify pads the shortest digits with zeros, and a program must be able to read its own output.
  return BigInt(integer) !== BigInt(value) && integer !== String(value);
}

/** The position after an integer that is surely exact, or -1 to use the slow check. */
function skipShortInteger(text: string, start: number): number {
  let at = start;
  let code = text.charCodeAt(at);
  if (code === ZERO) return -1;
  while (code >= ZERO && code <= ZERO + 9) {
    at += 1;
    code = text.charCodeAt(at);
  }
  const isWhole = code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
  return isWhole && at > start && at - start <= EXACT_DIGITS ? at : -1;
}

/** -1 if there are not four hexadecimal digits. */
function readHex(text: string, at: number): number {
  let unit = 0;
  for (let index = at; index < at + 4; index++) {
    const code = text.charCodeAt(index);
    const isDigit = code >= 48 && code <= 57;
    const lower = code | 32;
    if (!isDigit && !(lower >= 97 && lower <= 102)) return -1;
    unit = unit * 16 + (isDigit ? code - 48 : lower - 87);
  }
  return unit;
}

function matchWord(text: string, at: number): string {
  const word = /[\p{L}\p{N}_$.+-]{1,40}/uy;
  word.lastIndex = at;
  return word.exec(text)?.[0] ?? String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function nameControl(code: number): string {
  if (code === LINE_FEED || code === CARRIAGE_RETURN) return 'line end';
  return code === TAB ? 'tab' : 'control character';
}

function escapeControl(code: number): string {
  return JSON.stringify(String.fromCharCode(code)).slice(1, -1);
}

function quote(text: string): string {
  return JSON.stringify(cut(text));
}

function cut(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
