import { sanitize } from '../../output/sanitize.js';
import type { Stdio, TextOutput } from '../../platform/runtime/stdio.js';

export type Paint = (text: string) => string;

export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** Colours if they are wanted: NO_COLOR overrides FORCE_COLOR, which overrides the kind of stream. */
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

/** The maximum width of a table: a file or program gets whole lines, unless COLUMNS says otherwise. */
export function roomOn(
  out: TextOutput,
  { COLUMNS = '' }: Readonly<Record<string, string | undefined>>,
): number {
  if (out.isTerminal) return out.columns;
  return /^[1-9][0-9]{0,5}$/.test(COLUMNS) ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

/** The minimum length of an id prefix. */
const LEAST_CHARACTERS = 8;

/**
 * Batch ids for lists: the shortest unique prefix in the journal. Commands accept it as the id.
 * @param idsBeginningWith all ids of the journal with a prefix
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

/** Equivalent JSON that cannot control a terminal. On one line, unless `indent` is given. */
export function toSafeJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent);
  if (/^[\n -~]*$/.test(text)) return text;
  // JSON may contain control characters, direction overrides and invisible characters; a terminal must not
  // receive them. Line ends here are layout, because JSON escapes those inside strings.
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? character : escapeUnits(character),
  );
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}

/** A sentence for the person on standard error; with --json an object, because programs read it then. */
export function writeNote({ stderr, args }: Pick<Stdio, 'args' | 'stderr'>, message: string): void {
  stderr.write(
    wantsJson(args)
      ? `${toSafeJson({ type: 'note', message })}\n`
      : `toolexec: ${sanitize(message, 'inline')}\n`,
  );
}

/** Words after `--` belong to another command. */
export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end === -1 ? args : args.slice(0, end)).includes('--json');
}

/** One JSON value: indented for a person at a terminal, on one line for programs. */
export function writeJson(out: TextOutput, value: unknown): void {
  out.write(`${toSafeJson(value, out.isTerminal ? 2 : 0)}\n`);
}
