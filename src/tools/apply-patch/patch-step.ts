import type { Draft } from './draft.js';

/** One change to one file. The steps of a patch are applied in order to files in memory. */
export interface PatchStep {
  /** In the patch, from 1. */
  readonly line: number;
  readonly path: string;
  readonly effect: 'write' | 'delete' | 'move';
  /** The target of a move. */
  readonly to?: string;
  /** The lines that are added to the file. */
  readonly added: readonly string[];
  /**
   * Changes the file. Yields regularly, so that the caller can let timers and other calls run.
   * @throws ToolError `patch_failed` if the step does not fit
   */
  run(draft: Draft): Generator<void, void>;
}

export interface ParsedPatch {
  readonly format: 'lp1' | 'begin_patch' | 'unified';
  readonly steps: readonly PatchStep[];
}

/**
 * The lines of a patch text. If all of them end in CRLF, the CR is removed; otherwise a CR belongs to its
 * line.
 */
export function patchLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const isCrlf = lines.every((line, at) => line.endsWith('\r') || at === lines.length - 1);
  return isCrlf ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

/** Patch lines for the comparison with a file: if the file uses CRLF, the CR is not part of a line. */
export function withoutCr(lines: readonly string[], boundary: '\n' | '\r\n'): readonly string[] {
  if (boundary === '\n') return lines;
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}
