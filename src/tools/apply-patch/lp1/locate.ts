import { fromByteText, toByteText } from '../byte-text.js';
import type { LineBuffer } from '../line-buffer.js';
import { listLines, missing } from '../misfit.js';
import { unfitPatch } from '../patch-error.js';
import { type Found, LETTERS, type Operation } from './patch.js';

/**
 * The index of the lines that an operation speaks of.
 * @throws ToolError `patch_failed` for none, for several without a number, and for a number that is too large
 */
export function locate(lines: LineBuffer, operation: Extract<Operation, Found>, path: string): number {
  const { find, occurrence, line, kind } = operation;
  const block = find.map(toByteText);
  // More than this is only asked for where it has to be told.
  const found = lines.find(block, { limit: occurrence ?? 2 });
  const at = found[(occurrence ?? 1) - 1];
  if (at !== undefined && (occurrence !== undefined || found.length === 1)) return at;
  const place = { path, line };
  if (found.length === 0) {
    throw unfitPatch(place, `Match not found (0 times). ${missing(lines.texts().map(fromByteText), find)}`);
  }
  const all = lines.find(block);
  const where = `found ${all.length} time${all.length === 1 ? '' : 's'}, at ${listLines(all)}`;
  if (occurrence !== undefined) {
    throw unfitPatch(place, `Occurrence out of range: ${occurrence} was asked for, ${where}.`);
  }
  const letter = LETTERS[kind];
  throw unfitPatch(
    place,
    `Match is not unique: ${where}. Say which (${letter} 1), or give more of the lines around it.`,
  );
}
