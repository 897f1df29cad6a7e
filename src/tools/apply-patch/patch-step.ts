import type { applyChunks } from './begin-patch/apply-chunks.js';
import type { Draft } from './draft.js';
import type { applySection } from './lp1/apply-section.js';
import type { applyHunks } from './unified/apply-hunks.js';

/** What changes files: reading a patch does without, and a program that applies none never loads it. */
export interface Appliers {
  readonly applySection: typeof applySection;
  readonly applyChunks: typeof applyChunks;
  readonly applyHunks: typeof applyHunks;
}

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
   * Changes the file. Yields now and then, so that who drains it may let others have their turn.
   * @throws ToolError `patch_failed` when the step does not fit
   */
  run(draft: Draft, appliers: Appliers): Generator<void, void>;
}

export interface ParsedPatch {
  readonly format: 'lp1' | 'begin_patch' | 'unified';
  readonly steps: readonly PatchStep[];
}
