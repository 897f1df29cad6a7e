import { ToolError } from '../../errors/tool-error.js';
import { explainMissing } from '../suggestions/explain-missing.js';

/** A position in a patch, for errors. */
export interface PatchPlace {
  /** In the patch, from 1. */
  readonly line: number;
  /** The file, if there is one. */
  readonly path?: string | undefined;
}

/** The patch text cannot be parsed; no file was read. */
export function unreadablePatch(line: number, what: string): ToolError {
  return new ToolError('patch_failed', `Cannot read the patch, line ${line}: ${what}`, {
    details: { patch_line: line },
  });
}

/** The patch is valid but does not fit the file. */
export function unfitPatch({ line, path = '' }: PatchPlace, what: string): ToolError {
  return new ToolError('patch_failed', `Cannot patch ${path} (line ${line} of the patch): ${what}`, {
    details: { path, patch_line: line },
  });
}

const SHOWN_LINES = 12;
const SHOWN_WIDTH = 160;
const LISTED = 20;

/** The searched text, and the most similar part of the file. */
export function missing(file: readonly string[], sought: readonly string[]): string {
  const explained = explainMissing(file.join('\n'), sought.join('\n'), { wholeLines: true });
  return `Looked for:\n${quoteLines(sought)}\n${explained}`;
}

/** Line indices in words, counted from 1. */
export function listLines(indices: readonly number[]): string {
  const numbers = indices.slice(0, LISTED).map((index) => index + 1);
  const rest = indices.length - numbers.length;
  if (rest > 0) return `lines ${numbers.join(', ')} and ${rest} more`;
  const last = numbers.pop();
  return numbers.length === 0 ? `line ${last}` : `lines ${numbers.join(', ')} and ${last}`;
}

function quoteLines(lines: readonly string[]): string {
  const shown = lines.slice(0, SHOWN_LINES).map((line) => `> ${cut(line)}`);
  const rest = lines.length - shown.length;
  return rest > 0 ? `${shown.join('\n')}\n> ... (${rest} more lines)` : shown.join('\n');
}

function cut(line: string): string {
  return line.length > SHOWN_WIDTH ? `${line.slice(0, SHOWN_WIDTH)}...` : line;
}
