import { type Field, isComputed, isNewFile, literalField, type Piece, textPiece } from './field.js';
import {
  COMMON_NAMES,
  CRITICAL_FILES,
  DEVICE_FOLDERS,
  DEVICE_NAME,
  DEVICE_SAMPLES,
  FILE_SAMPLES,
  HARMLESS_DEVICES,
  STARTUP_FILES,
  SYSTEM_DIRECTORIES,
  SYSTEM_SUBDIRECTORIES,
} from './known-places.js';
import { couldMatch, type Place, type Segment, segmentText, showPlace, toPlace } from './place.js';

/** `vital`: the machine or the person cannot do without it. `unclear`: it may be such a place. */
export type Danger = 'vital' | 'unclear' | 'ordinary';

/** What removing, moving or re-owning a path with all below it would hit. */
export function dangerOfTree(field: Field, directory: string | undefined): Danger {
  const place = toPlace(field, directory);
  if (isNewFile(field)) return 'ordinary';
  if (isComputed(field)) return 'unclear';
  if (place.origin === 'root') return fromRoot(place.segments);
  return place.origin === 'here' ? fromHere(place) : fromUnknown(place);
}

/** Whether a path that is known is vital with all below it. */
export function isVital(path: string, directory: string | undefined = '.'): boolean {
  return dangerOfTree(literalField(path), directory) === 'vital';
}

function fromRoot(segments: readonly Segment[]): Danger {
  const [first, second, third] = segments;
  if (first === undefined) return 'vital';
  const top = matchAny(first, SYSTEM_DIRECTORIES);
  if (top === undefined) return 'ordinary';
  if (second === undefined) return unlessUnknown(segments);
  if (third !== undefined && !(segments.length === 3 && coversAll(third))) return 'ordinary';
  const known = Object.entries(SYSTEM_SUBDIRECTORIES).flatMap(([parent, names]) =>
    couldMatch(first, parent) ? names : [],
  );
  const holdsHomes = top === 'home' || top === 'Users';
  const isHit = holdsHomes || coversAll(second) || matchAny(second, known) !== undefined;
  return isHit ? unlessUnknown([first, second]) : 'ordinary';
}

/** What is not known may also be something else. */
function unlessUnknown(segments: readonly Segment[]): Danger {
  return isKnown(segments.flat()) ? 'vital' : 'unclear';
}

function isKnown(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => piece.kind !== 'unknown');
}

function matchAny(segment: Segment, names: readonly string[]): string | undefined {
  const text = segmentText(segment);
  if (text === undefined) return names.find((name) => couldMatch(segment, name));
  return names.includes(text) ? text : undefined;
}

/** A pattern for whatever a directory holds. */
function coversAll(segment: Segment): boolean {
  if (segmentText(segment) !== undefined) return false;
  return COMMON_NAMES.some(
    (names) => names.filter((name) => couldMatch(segment, name)).length * 2 > names.length,
  );
}

const MANY_UPS = 3;

function fromHere({ ups, segments, endsInDots }: Place): Danger {
  const [first, second] = segments;
  if (ups === 0) return 'ordinary';
  const far = ups >= MANY_UPS ? 'vital' : 'unclear';
  if (first === undefined) return endsInDots && ups < MANY_UPS ? 'unclear' : far;
  if (second !== undefined && !(segments.length === 2 && coversAll(second))) return 'ordinary';
  if (coversAll(first)) return far;
  return ups >= 2 && matchAny(first, SYSTEM_DIRECTORIES) !== undefined ? far : 'ordinary';
}

/** `$x/…`: when the variable is empty or `/`, what is behind it is a path from the root. */
function fromUnknown({ segments, ups }: Place): Danger {
  const startsUnknown = segments[0]?.length === 1 && segments[0][0]?.kind === 'unknown';
  const rest = startsUnknown ? segments.slice(1) : segments;
  if (rest.length === 0 || ups > 0) return 'unclear';
  if (rest.length === 1 && rest[0] !== undefined && coversAll(rest[0])) return 'unclear';
  return fromRoot(rest) === 'ordinary' ? 'ordinary' : 'unclear';
}

/** What writing to a path would hit, with a word for people. */
export interface FileDanger {
  readonly kind: Danger;
  readonly what: string;
}

const ORDINARY: FileDanger = { kind: 'ordinary', what: 'a file' };
const UNCLEAR: FileDanger = { kind: 'unclear', what: 'a file' };
const DISK: FileDanger = { kind: 'vital', what: 'a disk' };
const SYSTEM_FILE: FileDanger = { kind: 'vital', what: 'a file the system depends on' };
const STARTUP_FILE: FileDanger = { kind: 'vital', what: 'a file that is run or read at the next login' };

/** What overwriting one file would hit. */
export function dangerOfFile(field: Field, directory: string | undefined): FileDanger {
  const place = toPlace(field, directory);
  const { segments, origin, ups } = place;
  if (field.pieces.some((piece) => piece.kind === 'unknown' && piece.computed === true && !piece.numeric))
    return UNCLEAR;
  if (origin === 'unknown')
    return segments.some((one) => /^(?:dev|etc)$/.test(segmentText(one) ?? '')) ? UNCLEAR : ORDINARY;
  // `../../../etc/passwd`: far enough up it can only be the root.
  const isFarUp = ups > 0 && SYSTEM_DIRECTORIES.includes(segmentText(segments[0] ?? []) ?? '');
  if (origin !== 'root' && !isFarUp) return ORDINARY;
  if (segmentText(segments[0] ?? []) === 'dev') return dangerOfDevice(segments.slice(1));
  if (segments.some((segment) => segmentText(segment) === undefined)) return dangerOfPattern(segments);
  const text = showPlace({ ...place, origin: 'root' });
  if (CRITICAL_FILES.some((pattern) => pattern.test(text))) return SYSTEM_FILE;
  const home = /^\/(?:root|(?:home|Users)\/[^/]*)\/(.*)$/.exec(text)?.[1];
  if (home !== undefined && STARTUP_FILES.some((pattern) => pattern.test(home))) return STARTUP_FILE;
  return /^\/(?:etc|usr\/(?:s?bin|lib)|s?bin|lib(?:64)?)\//.test(text) ? UNCLEAR : ORDINARY;
}

function dangerOfPattern(segments: readonly Segment[]): FileDanger {
  const pieces: Piece[] = segments.flatMap((segment) => [textPiece('/'), ...segment]);
  const isDevice = DEVICE_SAMPLES.some((name) => couldMatch(pieces, `/dev/${name}`));
  if (!isDevice && !FILE_SAMPLES.some((path) => couldMatch(pieces, path))) return ORDINARY;
  if (!isKnown(pieces)) return UNCLEAR;
  return isDevice ? DISK : SYSTEM_FILE;
}

function dangerOfDevice([first, second]: readonly Segment[]): FileDanger {
  if (first === undefined) return UNCLEAR;
  const name = segmentText(first);
  if (name === undefined)
    return isKnown(first) && DEVICE_SAMPLES.some((sample) => couldMatch(first, sample)) ? DISK : UNCLEAR;
  if (DEVICE_NAME.test(name)) return /mem|port/.test(name) ? { kind: 'vital', what: 'memory' } : DISK;
  if (second !== undefined && DEVICE_FOLDERS.has(name)) return DISK;
  return HARMLESS_DEVICES.has(name) ? ORDINARY : UNCLEAR;
}
