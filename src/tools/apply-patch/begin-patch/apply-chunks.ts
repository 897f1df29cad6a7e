import type { Draft, DraftText } from '../draft.js';
import { fromByteText, type LineBuffer, toByteText } from '../line-buffer.js';
import { listLines, missing, type PatchPlace, unfitPatch } from '../patch-error.js';
import { withoutCr } from '../patch-step.js';

/** One hunk: the replaced lines and their context. */
export interface Chunk {
  readonly line: number;
  /** Lines named by `@@`: each is searched after the previous one, and the hunk after the last. */
  readonly contexts: readonly { readonly line: number; readonly text: string }[];
  /** Context and removed lines. */
  readonly old: readonly string[];
  /** Context and added lines. */
  readonly fresh: readonly string[];
  readonly added: readonly string[];
  /** Empty lines at the end, which may only separate the hunk from the next. */
  readonly trailingBlanks: number;
  readonly lastIsAdded: boolean;
  /** `*** End of File` follows. */
  readonly atEnd: boolean;
}

/**
 * Applies the hunks in file order. There is no fuzzy matching: lines must be equal. If several places fit and
 * `@@` does not distinguish them, none is chosen.
 * @throws ToolError `patch_failed`
 */
export function* applyChunks(
  place: PatchPlace,
  chunks: readonly Chunk[],
  draft: Draft,
): Generator<void, void> {
  if (!draft.exists) throw unfitPatch(place, 'the file does not exist. Use *** Add File to create it.');
  if (chunks.length === 0) return;
  const text = draft.text();
  const { lines } = text;
  let from = 0;
  for (const chunk of chunks) {
    const { at, count, fresh } = locate(lines, toComparable(chunk, text), from, place.path);
    const reachesEnd = at + count === lines.length;
    lines.splice(at, count, fresh);
    from = at + fresh.length;
    // Every line of a patch ends in a newline, even if it becomes the file's last line.
    if (lines.length === 0) text.finalNewline = false;
    else if (reachesEnd && chunk.lastIsAdded) text.finalNewline = true;
    yield;
  }
}

/** The chunk in the form that is compared with this file's lines. */
function toComparable(chunk: Chunk, { boundary }: DraftText): Chunk {
  const lines = (texts: readonly string[]): string[] => withoutCr(texts, boundary).map(toByteText);
  const contexts = chunk.contexts.map(({ line, text }) => ({ line, text: toByteText(text) }));
  return { ...chunk, contexts, old: lines(chunk.old), fresh: lines(chunk.fresh) };
}

interface Located {
  readonly at: number;
  readonly count: number;
  readonly fresh: readonly string[];
}

function locate(lines: LineBuffer, chunk: Chunk, from: number, path: string | undefined): Located {
  const { start, isCertain } = seek(lines, chunk, from, path);
  const place = { path, line: chunk.line };
  if (chunk.old.length === 0) {
    if (chunk.contexts.length === 0) return { at: lines.length, count: 0, fresh: chunk.fresh };
    throw unfitPatch(
      place,
      'the hunk only adds lines: give the lines around them, so that their place is known.',
    );
  }
  for (let blanks = 0; blanks <= chunk.trailingBlanks && blanks < chunk.old.length; blanks++) {
    const old = chunk.old.slice(0, chunk.old.length - blanks);
    const found = chunk.atEnd
      ? atEnd(lines, old, start)
      : lines.find(old, { from: start, limit: isCertain ? 1 : 2 });
    const [at] = found;
    if (at === undefined) continue;
    if (found.length === 1) {
      return { at, count: old.length, fresh: chunk.fresh.slice(0, chunk.fresh.length - blanks) };
    }
    const all = listLines(lines.find(old, { from: start }));
    throw unfitPatch(
      place,
      `the hunk is not unique, it fits at ${all}. Give more context, or @@ and a line above it.`,
    );
  }
  throw unfitPatch(place, unfound(lines, chunk, start));
}

function atEnd(lines: LineBuffer, old: readonly string[], start: number): number[] {
  const at = lines.length - old.length;
  return at >= start && lines.isAt(at, old) ? [at] : [];
}

/** Follows the `@@` lines. If the position is not certain, the hunk must be unique from there on. */
function seek(
  lines: LineBuffer,
  { contexts }: Chunk,
  from: number,
  path: string | undefined,
): { readonly start: number; readonly isCertain: boolean } {
  let start = from;
  let isCertain = false;
  for (const [index, { line, text }] of contexts.entries()) {
    const found = lines.find([text], { from: start, limit: 2 });
    const [at] = found;
    if (at === undefined) {
      const why = missing(lines.texts().slice(start).map(fromByteText), [fromByteText(text)]);
      const where =
        start === 0 ? '' : ` The search began at line ${start + 1}, after the lines found before.`;
      throw unfitPatch({ path, line }, `the line that @@ names was not found. ${why}${where}`);
    }
    if (index === 0) isCertain = found.length === 1;
    start = at + 1;
  }
  return { start, isCertain };
}

function unfound(lines: LineBuffer, { old, atEnd: isAtEnd }: Chunk, start: number): string {
  const earlier = lines.find(old);
  if (earlier.length > 0) {
    const where = isAtEnd
      ? 'not at the end of the file'
      : 'before the hunks and @@ lines that come first in the patch';
    return `the lines of the hunk were found at ${listLines(earlier)}, but ${where}. Hunks stand in the file's order.`;
  }
  const explained = missing(lines.texts().map(fromByteText), old.map(fromByteText));
  return `the lines of the hunk were not found${start === 0 ? '' : ` from line ${start + 1} on`}. ${explained}`;
}
