import { parseJson } from '../../base/parse-json.js';

/** Conversations are longer and deeper than a call's arguments may be. */
const LIMITS = { maxDepth: 512, maxValues: 10_000_000, keepsText: true };

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The text of a history. What stays as it was keeps its very characters: numbers that a double would round, escapes,
 * spaces, a byte order mark.
 */
export class HistoryText {
  readonly value: unknown;
  readonly #text: string;
  readonly #mark: string;
  /** Where each object and list stands; found when something is to be written. */
  #places: ReadonlyMap<unknown, Place> | undefined;

  /** @throws JsonTextError */
  constructor(text: string) {
    this.#mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = text.slice(this.#mark.length);
    this.value = parseJson(this.#text, LIMITS);
  }

  /** The text of a value that was made of parts of this one, as wide as it was, and with a line end where there was one. */
  write(value: unknown): string {
    const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(this.#text)?.[1] ?? '';
    const end = /\r?\n$/.exec(this.#text)?.[0] ?? '';
    return `${this.#mark}${this.#write(value, indent, '')}${end}`;
  }

  #write(value: unknown, indent: string, outer: string): string {
    this.#places ??= findPlaces(this.#text, this.value);
    const place = this.#places.get(value);
    if (place !== undefined) return this.#text.slice(place.start, place.end);
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const inner = outer + indent;
    const members = Array.isArray(value)
      ? value.map((each: unknown) => this.#write(each ?? null, indent, inner))
      : Object.entries(value)
          .filter(([, each]) => each !== undefined)
          .map(([key, each]) => `${JSON.stringify(key)}:${indent && ' '}${this.#write(each, indent, inner)}`);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    if (members.length === 0 || indent === '') return `${open}${members.join(',')}${close}`;
    return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${outer}${close}`;
  }
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** @param value what `text`, which is valid, says. */
function findPlaces(text: string, value: unknown): ReadonlyMap<unknown, Place> {
  const places = new Map<unknown, Place>();
  let at = 0;
  const skipSpace = (): void => {
    while (' \t\r\n'.includes(text[at] ?? 'x')) at++;
  };
  const skipString = (): void => {
    do at = text.indexOf('"', at + 1);
    while (isEscaped(text, at));
    at++;
  };
  const take = (part: unknown): void => {
    skipSpace();
    if (text[at] === '"') skipString();
    else if (typeof part === 'object' && part !== null) takeMembers(part);
    // A number or a word ends before whatever may follow a value.
    else while (at < text.length && !',]} \t\r\n'.includes(text[at] ?? '')) at++;
    skipSpace();
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
    take((part as Readonly<Record<string, unknown>>)[key]);
  };
  take(value);
  return places;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}
