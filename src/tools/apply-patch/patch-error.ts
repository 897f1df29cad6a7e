import { ToolError } from '../../errors/tool-error.js';

/** Where in a patch something is wrong. */
export interface PatchPlace {
  /** In the patch, from 1. */
  readonly line: number;
  /** The file that is spoken of, where there is one. */
  readonly path?: string | undefined;
}

/** The patch text itself cannot be read; nothing was looked at. */
export function unreadablePatch(line: number, what: string): ToolError {
  return new ToolError('patch_failed', `Cannot read the patch, line ${line}: ${what}`, {
    details: { patch_line: line },
  });
}

/** The patch can be read, and does not fit the file. */
export function unfitPatch({ line, path = '' }: PatchPlace, what: string): ToolError {
  return new ToolError('patch_failed', `Cannot patch ${path} (line ${line} of the patch): ${what}`, {
    details: { path, patch_line: line },
  });
}
