import { unreadablePatch } from '../patch-error.js';
import type { Hunk } from './apply-hunks.js';
import type { PatchReader } from './patch-reader.js';

const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

export function isHunkHeader(line: string): boolean {
  return line.startsWith('@@');
}

/** @throws ToolError `patch_failed` when the lines are not as many as the header says */
export function readHunk(reader: PatchReader): Hunk {
  const header = reader.next() ?? '';
  const line = reader.at;
  const [, oldStart, oldCount = '1', , freshCount = '1'] = HEADER.exec(header) ?? [];
  if (oldStart === undefined) {
    throw unreadablePatch(
      line,
      `${JSON.stringify(header.slice(0, 80))} is no hunk header: "@@ -12,3 +12,4 @@".`,
    );
  }
  const sides: Sides = { old: [], fresh: [], added: [], oldUnended: false, freshUnended: false };
  const wanted = { old: Number(oldCount), fresh: Number(freshCount) };
  while (sides.old.length < wanted.old || sides.fresh.length < wanted.fresh) {
    const isTaken = takeLine(reader, sides);
    if (isTaken && sides.old.length <= wanted.old && sides.fresh.length <= wanted.fresh) continue;
    throw unreadablePatch(
      line,
      `the header announces ${wanted.old} old and ${wanted.fresh} new lines, and the hunk has ` +
        `${isTaken ? 'more of one kind' : `${sides.old.length} and ${sides.fresh.length}`}. ` +
        'Context counts as both. Correct the numbers, or the lines.',
    );
  }
  if (reader.peek()?.startsWith('\\') === true) takeLine(reader, sides);
  return { line, oldStart: Number(oldStart), ...sides };
}

interface Sides {
  readonly old: string[];
  readonly fresh: string[];
  readonly added: string[];
  oldUnended: boolean;
  freshUnended: boolean;
}

/** False at a line that is no hunk's. */
function takeLine(reader: PatchReader, sides: Sides): boolean {
  const line = reader.peek();
  if (line === undefined) return false;
  // Editors take the blank of an empty context line away.
  const mark = line === '' || line === '\r' ? ' ' : line[0];
  const text = line === '' || line === '\r' ? line : line.slice(1);
  switch (mark) {
    case ' ':
      sides.old.push(text);
      sides.fresh.push(text);
      break;
    case '-':
      sides.old.push(text);
      break;
    case '+':
      sides.fresh.push(text);
      sides.added.push(text);
      break;
    case '\\':
      markUnended(reader, sides);
      break;
    default:
      return false;
  }
  reader.at++;
  return true;
}

/** `\ No newline at end of file` speaks of the line above it. */
function markUnended(reader: PatchReader, sides: Sides): void {
  const above = reader.lines[reader.at - 1]?.[0];
  if (above !== '+') sides.oldUnended = true;
  if (above !== '-') sides.freshUnended = true;
}
