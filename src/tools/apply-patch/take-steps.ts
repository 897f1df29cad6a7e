import { applyChunks } from './begin-patch/apply-chunks.js';
import { applySection } from './lp1/apply-section.js';
import type { OpenFile, OpenFiles } from './open-files.js';
import { unfitPatch } from './patch-error.js';
import type { Appliers, ParsedPatch, PatchStep } from './patch-step.js';
import { applyHunks } from './unified/apply-hunks.js';

export const APPLIERS: Appliers = { applySection, applyChunks, applyHunks };

/** An operation may search a million lines: after so many of them others have their turn. */
const OPERATIONS_A_TURN = 16;

/**
 * Takes all steps of a patch on the files in memory.
 * @throws ToolError `patch_failed` at the first that does not fit
 */
export async function takeSteps(
  { steps }: ParsedPatch,
  files: OpenFiles,
  between: () => Promise<void>,
): Promise<void> {
  let taken = 0;
  for (const step of steps) {
    const file = files.get(step.path);
    if (file === undefined) continue;
    for (const _ of step.run(file.draft, APPLIERS)) if (++taken % OPERATIONS_A_TURN === 0) await between();
    if (step.to !== undefined) move(step, file, files.get(step.to));
  }
}

function move(step: PatchStep, file: OpenFile, target: OpenFile | undefined): void {
  if (target === undefined || target === file) return;
  if (target.draft.exists) {
    throw unfitPatch(step, `it cannot be moved to ${step.to}: that file exists already.`);
  }
  file.draft.moveTo(target.draft);
  target.movedFrom = file.movedFrom ?? file;
}
