import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';

export type Paint = (text: string) => string;

export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** Colours where they are wanted: NO_COLOR beats FORCE_COLOR, which beats what the stream is. */
export function createPalette(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const colours = wantsColour(isTerminal, env);
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}

function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return !['', '0', 'false'].includes(env.FORCE_COLOR);
  return isTerminal && env.TERM !== 'dumb';
}

/** How wide a table may be: a file or a program reads whole lines, unless COLUMNS says otherwise. */
export function roomOn(
  out: TextOutput,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  if (out.isTerminal) return out.columns;
  return /^[1-9][0-9]{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

/** Wherever an id is taken, so many characters of it are the least. */
const LEAST_CHARACTERS = 8;

/**
 * Ids of batches as lists show them: the shortest beginning that no other batch of the journal has. Commands take it
 * for the whole id.
 * @param idsBeginningWith all ids of the journal with a beginning
 */
export function shortIds(idsBeginningWith: (prefix: string) => readonly string[]): (id: string) => string {
  const neighbours = new Map<string, readonly string[]>();
  return (id) => {
    const prefix = id.slice(0, LEAST_CHARACTERS);
    const others = neighbours.get(prefix) ?? idsBeginningWith(prefix);
    neighbours.set(prefix, others);
    let length = LEAST_CHARACTERS;
    for (const other of others) if (other !== id) length = Math.max(length, sharedLength(id, other) + 1);
    return sanitize(id.slice(0, length), 'inline');
  };
}

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** JSON that means the same and cannot drive the terminal it is shown on. On one line, unless `indent` is given. */
export function toSafeJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent);
  if (/^[\n -~]*$/.test(text)) return text;
  // Controls, direction overrides and invisible characters: JSON may hold them as they are, a terminal may not.
  // A line end in the text is layout: inside strings JSON has escaped it already.
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** One JSON value: indented for a person at a terminal, on one line for programs. */
export function writeJson(out: TextOutput, value: unknown): void {
  out.write(`${toSafeJson(value, out.isTerminal ? 2 : 0)}\n`);
}
