import { couldMatch } from './expand/glob-match.js';
import type { Field, Piece } from './field.js';
import {
  CRITICAL_FILES,
  CRITICAL_SAMPLES,
  DEVICE_FOLDERS,
  DEVICE_NAME,
  DEVICE_SAMPLES,
  HARMLESS_DEVICES,
  HIDDEN_NAMES,
  ORDINARY_NAMES,
  STARTUP_FILES,
  STARTUP_SAMPLES,
  SYSTEM_DIRECTORIES,
  SYSTEM_SUBDIRECTORIES,
} from './known-places.js';
import { exactPlace, type Place, type Segment, segmentText, showPlace, toPlace } from './place.js';

/** `vital`: the machine or the person cannot do without it. `unclear`: it may be such a place. */
export type TreeJudgement = 'vital' | 'unclear' | 'ordinary';

/** What removing, moving or re-owning a path with all below it would hit. */
export function judgeTree(field: Field, directory: string | undefined): TreeJudgement {
  const place = toPlace(field, directory);
  if (place.origin === 'root') return judgeFromRoot(place.segments);
  if (place.origin === 'here') return judgeFromHere(place);
  return judgeFromUnknown(place);
}

function judgeFromRoot(segments: readonly Segment[]): TreeJudgement {
  const [first, second, third] = segments;
  if (first === undefined) return 'vital';
  const [isSystem, top] = matchAny(first, SYSTEM_DIRECTORIES);
  if (second === undefined) return isSystem ? verdictOf(segments) : 'ordinary';
  if (!isSystem) return 'ordinary';
  if (third === undefined) return judgeSecond(top, first, second);
  if (segments.length === 3 && coversAll(third)) return judgeSecond(top, first, second);
  return 'ordinary';
}

function judgeSecond(top: string, first: Segment, second: Segment): TreeJudgement {
  const holdsHomes = top === 'home' || top === 'Users';
  const known = SYSTEM_SUBDIRECTORIES.filter(([parent]) => couldMatch(first, parent)).map(([, name]) => name);
  const isVital = holdsHomes || coversAll(second) || matchAny(second, known)[0];
  return isVital ? verdictOf([first, second]) : 'ordinary';
}

/** What is not known may also be something else. */
function verdictOf(segments: readonly Segment[]): TreeJudgement {
  const isKnown = segments.every((segment) => segment.every((piece) => piece.kind !== 'unknown'));
  return isKnown ? 'vital' : 'unclear';
}

function matchAny(segment: Segment, names: readonly string[]): [boolean, string] {
  const text = segmentText(segment);
  if (text !== undefined) return [names.includes(text), text];
  const name = names.find((one) => couldMatch(segment, one));
  return [name !== undefined, name ?? ''];
}

/** A pattern for whatever a directory holds. */
function coversAll(segment: Segment): boolean {
  if (segmentText(segment) !== undefined) return false;
  return [ORDINARY_NAMES, HIDDEN_NAMES].some(
    (names) => names.filter((name) => couldMatch(segment, name)).length * 2 > names.length,
  );
}

const MANY_UPS = 3;

function judgeFromHere({ ups, segments, endsInDots }: Place): TreeJudgement {
  const [first, second] = segments;
  if (ups === 0) return 'ordinary';
  const far = ups >= MANY_UPS ? 'vital' : 'unclear';
  if (first === undefined) return endsInDots && ups < MANY_UPS ? 'unclear' : far;
  if (second !== undefined && !(segments.length === 2 && coversAll(second))) return 'ordinary';
  if (coversAll(first)) return far;
  return ups >= 2 && matchAny(first, SYSTEM_DIRECTORIES)[0] ? far : 'ordinary';
}

/** `$x/…`: when the variable is empty or `/`, what is behind it is a path from the root. */
function judgeFromUnknown({ segments, ups }: Place): TreeJudgement {
  const startsWithUnknown = segments[0]?.[0]?.kind === 'unknown';
  const rest = startsWithUnknown && segments[0]?.length === 1 ? segments.slice(1) : segments;
  if (rest.length === 0 || ups > 0) return 'unclear';
  if (rest.length === 1 && rest[0] !== undefined && coversAll(rest[0])) return 'unclear';
  return judgeFromRoot(rest) === 'ordinary' ? 'ordinary' : 'unclear';
}

/** What writing to a path would hit, with a word for people. */
export type TargetJudgement =
  | { readonly kind: 'vital'; readonly what: string }
  | { readonly kind: 'unclear' | 'ordinary' };

const ORDINARY: TargetJudgement = { kind: 'ordinary' };
const UNCLEAR: TargetJudgement = { kind: 'unclear' };

/** What overwriting one file would hit. */
export function judgeTarget(field: Field, directory: string | undefined): TargetJudgement {
  const place = toPlace(field, directory);
  const { segments } = place;
  if (place.origin === 'unknown') return judgeUnknownTarget(segments);
  const rooted = place.origin === 'root' ? segments : place.ups > 0 ? fromFarUp(place) : undefined;
  if (rooted === undefined) return ORDINARY;
  if (segmentText(rooted[0] ?? []) === 'dev') return judgeDevice(rooted.slice(1));
  const text = exactPlace({ ...place, origin: 'root', segments: rooted });
  if (text === undefined) return judgePattern(rooted);
  if (isCritical(text)) return { kind: 'vital', what: 'a file the system depends on' };
  const home = inHome(rooted);
  if (home !== undefined && STARTUP_FILES.some((pattern) => pattern.test(home))) {
    return { kind: 'vital', what: 'a file that is run or read at the next login' };
  }
  return /^\/(?:etc|usr\/(?:s?bin|lib)|s?bin|lib(?:64)?)\//.test(text) ? UNCLEAR : ORDINARY;
}

function judgeUnknownTarget(segments: readonly Segment[]): TargetJudgement {
  const names = segments.map(segmentText);
  const at = names.findIndex((name) => name === 'dev' || name === 'etc');
  if (at === -1) return ORDINARY;
  return UNCLEAR;
}

/** `../../../etc/passwd`: far enough up it can only be the root. */
function fromFarUp({ segments }: Place): readonly Segment[] | undefined {
  const [first] = segments;
  const name = first === undefined ? undefined : segmentText(first);
  return name !== undefined && SYSTEM_DIRECTORIES.includes(name) ? segments : undefined;
}

function isCritical(path: string): boolean {
  return CRITICAL_FILES.some((pattern) => pattern.test(path));
}

function inHome(segments: readonly Segment[]): string | undefined {
  const [first, second, ...rest] = segments.map((segment) => segmentText(segment) ?? '*');
  if (first === 'root') return [second, ...rest].join('/');
  return first === 'home' || first === 'Users' ? rest.join('/') : undefined;
}

function judgePattern(segments: readonly Segment[]): TargetJudgement {
  const pieces: Piece[] = segments.flatMap((segment) => [
    { kind: 'text', text: '/', assumed: false } as const,
    ...segment,
  ]);
  const isKnown = pieces.every((piece) => piece.kind !== 'unknown');
  const isDevice = DEVICE_SAMPLES.some((name) => couldMatch(pieces, `/dev/${name}`));
  const homes = STARTUP_SAMPLES.flatMap((name) => [`/root/${name}`, `/home/~/${name}`]);
  const isFile = [...CRITICAL_SAMPLES, ...homes].some((path) => couldMatch(pieces, path));
  if (!isDevice && !isFile) return ORDINARY;
  return isKnown ? { kind: 'vital', what: isDevice ? 'a disk' : 'a file the system depends on' } : UNCLEAR;
}

function judgeDevice(rest: readonly Segment[]): TargetJudgement {
  const [first, second] = rest;
  if (first === undefined) return UNCLEAR;
  const name = segmentText(first);
  if (name === undefined) {
    const isDisk = DEVICE_SAMPLES.some((sample) => couldMatch(first, sample));
    const isKnown = first.every((piece) => piece.kind !== 'unknown');
    return isDisk && isKnown ? { kind: 'vital', what: 'a disk' } : UNCLEAR;
  }
  if (DEVICE_NAME.test(name)) return { kind: 'vital', what: /mem|port/.test(name) ? 'memory' : 'a disk' };
  if (second !== undefined && DEVICE_FOLDERS.has(name)) return { kind: 'vital', what: 'a disk' };
  return HARMLESS_DEVICES.has(name) ? ORDINARY : UNCLEAR;
}

/** The path for an effect: `~` for the home directory. Undefined: it is not known well enough. */
export function effectPath(field: Field, directory: string | undefined): string | undefined {
  const place = toPlace(field, directory);
  if (place.origin === 'unknown') return undefined;
  const text = showPlace(place);
  return text === '/home/~' || text.startsWith('/home/~/') ? `~${text.slice('/home/~'.length)}` : text;
}
