import { parseJson } from '../../base/parse-json.js';

/** Conversations may be longer and deeper than a call's arguments. */
const LIMITS = { maxDepth: 512, maxValues: 10_000_000, keepsText: true };

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The text of a history. Unchanged parts keep their exact characters: numbers that a double would round,
 * escapes, spaces, a byte order mark.
 */
export class HistoryText {
  readonly value: unknown;
  readonly #text: string;
  readonly #mark: string;
  /** Details of the text beyond its value; computed when something is written. */
  #spelling: Spelling | undefined;

  /** @throws JsonTextError */
  constructor(text: string) {
    this.#mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = text.slice(this.#mark.length);
    this.value = parseJson(this.#text, LIMITS);
  }

  /** The text of a value built from parts of this one, with the same indentation and final line end. */
  write(value: unknown): string {
    const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(this.#text)?.[1] ?? '';
    const end = /\r?\n$/.exec(this.#text)?.[0] ?? '';
    this.#spelling ??= findSpelling(this.#text, this.value);
    return `${this.#mark}${this.#write(value, this.#spelling, indent, '')}${end}`;
  }

  #write(value: unknown, spelling: Spelling, indent: string, outer: string, named = ''): string {
    const place = spelling.places.get(value);
    if (place !== undefined) return this.#text.slice(place.start, place.end);
    // An object may be new with mostly old members.
    if (typeof value === 'number')
      return spelling.numbers.get(numberKey(named, value)) ?? JSON.stringify(value);
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const inner = outer + indent;
    const members = Array.isArray(value)
      ? value.map((each: unknown) => this.#write(each ?? null, spelling, indent, inner))
      : Object.entries(value)
          .filter(([, each]) => each !== undefined)
          .map(
            ([key, each]) =>
              `${JSON.stringify(key)}:${indent && ' '}${this.#write(each, spelling, indent, inner, key)}`,
          );
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    if (members.length === 0 || indent === '') return `${open}${members.join(',')}${close}`;
    return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${outer}${close}`;
  }
}

interface Place {
  readonly start: number;
  readonly end: number;
}

interface Spelling {
  /** The position of each object and list. */
  readonly places: ReadonlyMap<unknown, Place>;
  /** The text of a number, by its key and value; its plain text if there are several. */
  readonly numbers: ReadonlyMap<string, string>;
}

function numberKey(named: string, value: number): string {
  return `${value} ${named}`;
}

/** @param value the value of `text`, which is valid. */
function findSpelling(text: string, value: unknown): Spelling {
  const places = new Map<unknown, Place>();
  const numbers = new Map<string, string>();
  let at = 0;
  const skipSpace = (): void => {
    while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
  };
  const skipString = (): void => {
    do at = text.indexOf('"', at + 1);
    while (isEscaped(text, at));
    at++;
  };
  const take = (part: unknown, named = ''): void => {
    skipSpace();
    const start = at;
    if (text[at] === '"') skipString();
    else if (typeof part === 'object' && part !== null) takeMembers(part);
    // A number or word ends before any character that may follow a value.
    else while (at < text.length && !',]} \t\r\n'.includes(text[at] ?? '')) at++;
    if (typeof part === 'number') note(named, part, text.slice(start, at));
    skipSpace();
  };
  const note = (named: string, part: number, spelled: string): void => {
    const key = numberKey(named, part);
    const known = numbers.get(key) ?? spelled;
    numbers.set(key, known === spelled || !Number.isFinite(part) ? known : String(part));
  };
  const takeMembers = (part: object): void => {
    const start = at++;
    const isList = Array.isArray(part);
    for (let index = 0; ; index++) {
      skipSpace();
      if (text[at] === ']' || text[at] === '}') break;
      if (isList) take((part as readonly unknown[])[index]);
      else takeMember(part);
      if (text[at] === ',') at++;
    }
    places.set(part, { start, end: ++at });
  };
  const takeMember = (part: object): void => {
    const start = at;
    skipString();
    const key = String(JSON.parse(text.slice(start, at)));
    skipSpace();
    at++;
    take((part as Readonly<Record<string, unknown>>)[key], key);
  };
  take(value);
  return { places, numbers };
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
