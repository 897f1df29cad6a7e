import type { Draft, DraftText } from '../draft.js';
import { fromByteText, type LineBuffer, toByteText } from '../line-buffer.js';
import { listLines, missing, type PatchPlace, unfitPatch } from '../patch-error.js';
import { withoutCr } from '../patch-step.js';

export interface Hunk {
  readonly line: number;
  /** From the header, counted from 1. */
  readonly oldStart: number;
  /** Context and removed lines. */
  readonly old: readonly string[];
  /** Context and added lines. */
  readonly fresh: readonly string[];
  readonly added: readonly string[];
  /** Whether `\ No newline at end of file` follows the last line of this side. */
  readonly oldUnended: boolean;
  readonly freshUnended: boolean;
}

/**
 * Applies the hunks. A hunk fits at the line in its header, or at exactly one other place after the previous
 * hunk. Its lines must equal the file's, including the final newline.
 * @throws ToolError `patch_failed`
 */
export function* applyHunks(place: PatchPlace, hunks: readonly Hunk[], draft: Draft): Generator<void, void> {
  if (hunks.length === 0) return;
  const text = draft.text();
  const { lines } = text;
  let [from, shift] = [0, 0];
  for (const hunk of hunks) {
    const { old, fresh } = toComparable(hunk, text);
    const at = locate(lines, { hunk, old, from, stated: statedIndex(hunk) + shift }, place.path);
    const reachesEnd = at + old.length === lines.length;
    assertSameEnd(hunk, reachesEnd, text.finalNewline, place.path);
    lines.splice(at, old.length, fresh);
    if (reachesEnd) text.finalNewline = lines.length > 0 && !hunk.freshUnended;
    shift = at - statedIndex(hunk) + fresh.length - old.length;
    from = at + fresh.length;
    yield;
  }
}

/** A hunk that removes no lines is inserted after the named line. */
function statedIndex({ oldStart, old }: Hunk): number {
  return old.length === 0 ? oldStart : oldStart - 1;
}

function toComparable({ old, fresh }: Hunk, { boundary }: DraftText): Pick<Hunk, 'old' | 'fresh'> {
  const lines = (texts: readonly string[]): string[] => withoutCr(texts, boundary).map(toByteText);
  return { old: lines(old), fresh: lines(fresh) };
}

interface Sought {
  readonly hunk: Hunk;
  readonly old: readonly string[];
  /** The earliest possible position, and the position in the header. */
  readonly from: number;
  readonly stated: number;
}

function locate(lines: LineBuffer, { hunk, old, from, stated }: Sought, path: string | undefined): number {
  const place = { path, line: hunk.line };
  if (old.length === 0) {
    if (lines.length === 0) return 0;
    throw unfitPatch(
      place,
      'the hunk only adds lines: give the lines around them, so that their place is known.',
    );
  }
  if (stated >= from && lines.isAt(stated, old)) return stated;
  const found = lines.find(old, { from, limit: 2 });
  const [at] = found;
  if (at !== undefined && found.length === 1) return at;
  if (at !== undefined) {
    const all = listLines(lines.find(old, { from }));
    throw unfitPatch(
      place,
      `the hunk is not at line ${stated + 1}, as its header says, and fits at several others (${all}). ` +
        'Correct the line number, or give more context.',
    );
  }
  const earlier = lines.find(old);
  if (earlier.length > 0) {
    throw unfitPatch(
      place,
      `the hunk fits only at ${listLines(earlier)}, before the hunk that comes first in the patch.`,
    );
  }
  const why = missing(lines.texts().map(fromByteText), old.map(fromByteText));
  throw unfitPatch(place, `the lines of the hunk were not found. ${why}`);
}

function assertSameEnd(
  hunk: Hunk,
  reachesEnd: boolean,
  finalNewline: boolean,
  path: string | undefined,
): void {
  const place = { path, line: hunk.line };
  const mark = '"\\ No newline at end of file"';
  if (hunk.oldUnended && !(reachesEnd && !finalNewline) && hunk.old.length > 0) {
    throw unfitPatch(place, `the hunk says ${mark}, and the file has a newline there. Leave that line out.`);
  }
  if (reachesEnd && !finalNewline && !hunk.oldUnended && hunk.old.length > 0) {
    const where = 'the last line that is context or removed';
    throw unfitPatch(place, `the file does not end in a newline. Add ${mark} behind ${where}.`);
  }
  if (hunk.freshUnended && !reachesEnd) {
    throw unfitPatch(place, `the hunk says ${mark}, but lines of the file follow it.`);
  }
}
