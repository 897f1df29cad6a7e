import { type Field, type Piece, textOf, textValue } from './field.js';

/** Where a path leads, as text alone can tell: links are not followed. */
export interface Place {
  /** `root`: absolute. `here`: from where the command starts. `unknown`: it begins with what is not known. */
  readonly origin: 'root' | 'here' | 'unknown';
  /** How many directories above its origin it starts; only `here`. */
  readonly ups: number;
  readonly segments: readonly Segment[];
}

export type Segment = readonly Piece[];

/** Resolves `.`, `..`, doubled slashes, the directory and `/proc/self/root`. */
export function toPlace({ pieces }: Field, directory: string | undefined): Place {
  const parts = splitSegments(pieces);
  const [first = []] = parts;
  if (parts.length > 1 && first.length === 0) return walk('root', parts);
  if (directory === undefined || first[0]?.kind === 'unknown') return walk('unknown', parts);
  const from = splitSegments([textValue(directory)]);
  return walk(directory.startsWith('/') ? 'root' : 'here', [...from, ...parts]);
}

function splitSegments(pieces: readonly Piece[]): Segment[] {
  const segments: Piece[][] = [[]];
  for (const piece of pieces) {
    if (piece.kind !== 'text') {
      segments.at(-1)?.push(piece);
      continue;
    }
    piece.text.split('/').forEach((text, index) => {
      if (index > 0) segments.push([]);
      if (text !== '') segments.at(-1)?.push({ ...piece, text });
    });
  }
  return segments;
}

function walk(origin: Place['origin'], parts: readonly Segment[]): Place {
  const segments: Segment[] = [];
  let ups = 0;
  for (const part of parts) {
    if (part.length === 0) continue;
    const text = textOf(part);
    if (text === '.') continue;
    if (text !== '..') segments.push(part);
    else if (segments.length > 0) segments.pop();
    else if (origin !== 'root') ups++;
  }
  const [proc, process = '', root] = segments.slice(0, 3).map(textOf);
  const isRoot = origin === 'root' && proc === 'proc' && root === 'root';
  if (isRoot && /^(?:self|thread-self|\d+|\$\$)$/.test(process)) segments.splice(0, 3);
  return { origin, ups, segments };
}

/** The path as text, unknown parts as `*`; relative ones from where the command starts. */
export function showPlace({ origin, ups, segments }: Place): string {
  const names = segments.map((segment) =>
    segment.map((piece) => (piece.kind === 'unknown' ? '*' : piece.text)).join(''),
  );
  if (origin === 'root') return `/${names.join('/')}`;
  return [...Array<string>(ups).fill('..'), ...names].join('/') || '.';
}

/** The path of a field, as text. */
export function pathText(field: Field, directory: string | undefined): string {
  return showPlace(toPlace(field, directory));
}

/** The path as text, where all of it is known. */
export function exactPath(field: Field, directory: string | undefined): string | undefined {
  const place = toPlace(field, directory);
  const isExact = place.origin !== 'unknown' && place.segments.every((one) => textOf(one) !== undefined);
  return isExact ? showPlace(place) : undefined;
}

/** The path for an effect: `~` for the home directory. Undefined: it is not known well enough. */
export function effectPath(field: Field, directory: string | undefined): string | undefined {
  const place = toPlace(field, directory);
  if (place.origin === 'unknown') return undefined;
  const text = showPlace(place);
  return text === '/home/~' || text.startsWith('/home/~/') ? `~${text.slice('/home/~'.length)}` : text;
}

/** A descriptor, or a file of a process: what it holds is not in the file system. */
export function isDescriptor(text: string): boolean {
  return /^\/+(?:dev|proc)\//.test(text);
}

/** Whether the pieces could spell `text`. In doubt it says yes: a class stands for any character, much else for any text. */
export function couldMatch(pieces: readonly Piece[], text: string): boolean {
  const sources = pieces.map((piece) => {
    if (piece.kind === 'text') return piece.text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    return piece.kind === 'glob' && /^(?:\?|\[.*)$/s.test(piece.text) ? '[^]' : '[^]*';
  });
  // More of them could take long to compare.
  if (sources.filter((source) => source === '[^]*').length > MAX_STARS) return true;
  return new RegExp(`^${sources.join('')}$`).test(text);
}

const MAX_STARS = 3;

/** Turns a text that is read as a pattern (an unquoted expansion) into pieces. */
export function toGlobPieces(text: string, assumed: boolean): Piece[] {
  return text
    .split(/([*?]|\[[^\]/]+\])/)
    .filter((part) => part !== '')
    .map((part) =>
      /^(?:[*?]|\[.+\])$/s.test(part) ? { kind: 'glob', text: part } : textValue(part, assumed),
    );
}
