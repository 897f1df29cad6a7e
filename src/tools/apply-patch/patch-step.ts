import type { Draft } from './draft.js';

/** One change to one file. The steps of a patch are taken in order, on files in memory. */
export interface PatchStep {
  /** In the patch, from 1. */
  readonly line: number;
  readonly path: string;
  readonly effect: 'write' | 'delete' | 'move';
  /** Where the file goes; present exactly for a move. */
  readonly to?: string;
  /** Lines that come into the file. */
  readonly added: readonly string[];
  /**
   * Changes the file. Yields now and then, so that the caller can let timers and other calls run in between.
   * @throws ToolError `patch_failed` when the step does not fit
   */
  run(draft: Draft): Generator<void, void>;
}

export interface ParsedPatch {
  readonly format: 'lp1' | 'begin_patch' | 'unified';
  readonly steps: readonly PatchStep[];
}

/** The lines of a patch text. Written with CRLF throughout, they lose the CR; else a CR belongs to its line. */
export function patchLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const isCrlf = lines.every((line, at) => line.endsWith('\r') || at === lines.length - 1);
  return isCrlf ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

/** Lines of a patch as they are compared with a file's: where the file ends its lines in CRLF, the CR is no part of them. */
export function withoutCr(lines: readonly string[], boundary: '\n' | '\r\n'): readonly string[] {
  if (boundary === '\n') return lines;
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}
