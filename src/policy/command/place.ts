import type { Field, Piece } from './field.js';

/** Where a path leads, as text alone can tell: links are not followed. */
export interface Place {
  /** `root`: absolute. `here`: from where the command starts. `unknown`: it begins with what is not known. */
  readonly origin: 'root' | 'here' | 'unknown';
  /** How many directories above its origin it starts; only `here`. */
  readonly ups: number;
  readonly segments: readonly Segment[];
  /** The last part is `.` or `..`: `rm` refuses those. */
  readonly endsInDots: boolean;
}

export type Segment = readonly Piece[];

/** Resolves `.`, `..`, doubled slashes, the directory and `/proc/self/root`. */
export function toPlace(field: Field, directory: string | undefined): Place {
  const parts = splitSegments(field.pieces);
  const [first = []] = parts;
  const isAbsolute = parts.length > 1 && first.length === 0;
  if (!isAbsolute && first[0]?.kind === 'unknown') return walk('unknown', 0, parts);
  if (isAbsolute) return stripProcRoot(walk('root', 0, parts));
  if (directory === undefined) return walk('unknown', 0, [[], ...parts]);
  if (directory.startsWith('/')) return stripProcRoot(walk('root', 0, [...fromText(directory), ...parts]));
  return walk('here', 0, [...fromText(directory), ...parts]);
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

function fromText(directory: string): Segment[] {
  return directory.split('/').map((text) => (text === '' ? [] : [{ kind: 'text', text, assumed: false }]));
}

function walk(origin: Place['origin'], startUps: number, parts: readonly Segment[]): Place {
  const segments: Segment[] = [];
  let ups = startUps;
  let endsInDots = false;
  for (const part of parts) {
    const text = segmentText(part);
    if (part.length === 0) continue;
    endsInDots = text === '.' || text === '..';
    if (text === '.') continue;
    if (text !== '..') segments.push(part);
    else if (segments.length > 0) segments.pop();
    else if (origin !== 'root') ups++;
  }
  return { origin, ups, segments, endsInDots };
}

function stripProcRoot(place: Place): Place {
  const [proc, process, root, ...rest] = place.segments.map(segmentText);
  const isRoot = proc === 'proc' && /^(?:self|thread-self|\d+|\$\$)$/.test(process ?? '') && root === 'root';
  return isRoot ? { ...place, segments: place.segments.slice(3, 3 + rest.length) } : place;
}

/** Undefined: it holds a pattern or something unknown. */
export function segmentText(segment: Segment): string | undefined {
  let text = '';
  for (const piece of segment) {
    if (piece.kind !== 'text') return undefined;
    text += piece.text;
  }
  return text;
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
export function rootPath(field: Field, directory: string | undefined): string {
  return showPlace(toPlace(field, directory));
}

/** All of it known: the path as text. */
export function exactPlace(place: Place): string | undefined {
  if (place.origin === 'unknown') return undefined;
  return place.segments.every((segment) => segmentText(segment) !== undefined) ? showPlace(place) : undefined;
}
