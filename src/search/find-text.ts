import type { Sandbox } from '../contract/files.js';
import type { FileMatches, TextFound, TextSearch } from '../contract/search.js';
import { closeDescriptor } from '../platform/fs/fs-bytes.js';
import { toBytes, toText } from './byte-path.js';
import { filterByRule } from './file-filter.js';
import { type OpenFile, readMatches } from './read-matches.js';
import type { RipgrepEnd } from './ripgrep.js';
import { openPlace, type SearchPlace } from './search-place.js';
import { Smallest } from './smallest.js';
import { patternArguments } from './text-arguments.js';
import { walkFiles } from './walk-files.js';

/**
 * Finds the matches of a regular expression.
 *
 * 1. Ripgrep walks the directory on all processors and names the matching files. Only the names are used,
 *   because another program may rename directories meanwhile.
 * 2. We open the first of these files by path inside the root, and ripgrep reads the matches from the open
 *   files. So results are in order, come from inside the root, and only the needed part is read.
 */
export async function findText(
  sandbox: Sandbox,
  request: TextSearch,
  signal: AbortSignal,
): Promise<TextFound> {
  const place = openPlace(sandbox, request.path);
  try {
    if (place.held.type === 'file') return await findInFile(place, request, signal);
    return await findBelow(sandbox, place, request, signal);
  } finally {
    place.held.close();
  }
}

async function findInFile(place: SearchPlace, request: TextSearch, signal: AbortSignal): Promise<TextFound> {
  const descriptor = place.held.openForReading();
  try {
    const file: OpenFile = { path: place.name, descriptor };
    const read = await readMatches({
      files: [file],
      roots: place.roots,
      request,
      signal,
      room: roomFor(request),
    });
    return { ...read, totalFiles: read.files.length };
  } finally {
    closeDescriptor(descriptor);
  }
}

/** Some of the matching files may be gone when they are read. */
const SPARE_FILES = 64;
/** Every file gives at least one line, and showing a line takes a few bytes. */
const BYTES_OF_A_FILE = 4;

async function findBelow(
  sandbox: Sandbox,
  place: SearchPlace,
  request: TextSearch,
  signal: AbortSignal,
): Promise<TextFound> {
  const mostFiles = Math.min(request.maxResults, Math.ceil(request.maxBytes / BYTES_OF_A_FILE));
  const candidates = new Smallest(mostFiles + SPARE_FILES);
  const walked = await walkFiles({
    place,
    scope: request,
    filter: filterByRule(request.glob, request.includeHidden, request.type === undefined),
    task: [
      '--files-with-matches',
      ...patternArguments(request),
      ...(request.type === undefined ? [] : [`--type=${request.type}`]),
    ],
    denied: sandbox.deniedPatterns,
    signal,
    sink: candidates,
  });
  const reading = await readCandidates(place, candidates.sorted(), request, signal);
  const shown = reading.files.length;
  const totalFiles = candidates.count - (reading.seen - shown);
  return {
    files: reading.files,
    totalFiles,
    more: reading.more || totalFiles > shown,
    unreadable: walked.unreadable || reading.unreadable,
    stopped: walked.stopped || reading.stopped,
  };
}

/** The number of files open at once. */
const BATCH = 200;

interface Reading extends RipgrepEnd {
  readonly files: readonly FileMatches[];
  /** The number of candidates read; those that no longer match are not in `files`. */
  readonly seen: number;
  readonly more: boolean;
}

async function readCandidates(
  place: SearchPlace,
  candidates: readonly string[],
  request: TextSearch,
  signal: AbortSignal,
): Promise<Reading> {
  const files: FileMatches[] = [];
  const room = roomFor(request);
  let seen = 0;
  let unreadable = false;
  while (seen < candidates.length && room.results > 0 && room.bytes > 0) {
    const batch = candidates.slice(seen, seen + Math.min(BATCH, room.results));
    const opened = openAll(place, batch);
    try {
      const read = await readMatches({ files: opened, roots: place.roots, request, signal, room });
      files.push(...read.files);
      unreadable ||= read.unreadable;
      const { stopped, more } = read;
      // Files that were not reached did match in the walk, so they count.
      if (stopped || more) return { files, seen: files.length, more, unreadable, stopped };
    } finally {
      for (const { descriptor } of opened) closeDescriptor(descriptor);
    }
    seen += batch.length;
  }
  return { files, seen, more: false, unreadable, stopped: false };
}

function openAll(place: SearchPlace, paths: readonly string[]): OpenFile[] {
  const opened: OpenFile[] = [];
  for (const path of paths) {
    const descriptor = place.held.fileBelow(toBytes(path), (file) =>
      openReadable(() => file.openForReading()),
    );
    if (descriptor !== undefined) opened.push({ path: place.prefix + toText(path), descriptor });
  }
  return opened;
}

function openReadable(open: () => number): number | undefined {
  try {
    return open();
  } catch {
    // It was readable during the walk and no longer is: treated as gone.
    return undefined;
  }
}

function roomFor({ maxResults, maxBytes }: TextSearch): { results: number; bytes: number } {
  return { results: maxResults, bytes: maxBytes };
}
