import type { OpenFile, OpenFiles } from './open-files.js';
import { unfitPatch } from './patch-error.js';
import type { ParsedPatch, PatchStep } from './patch-step.js';

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
    const run = step.run(file.now);
    let next = run.next();
    while (next.done !== true) {
      if (++taken % OPERATIONS_A_TURN === 0) await between();
      next = run.next();
    }
    settle(step, file, files, next.value);
  }
}

function settle(step: PatchStep, file: OpenFile, files: OpenFiles, content: Uint8Array | undefined): void {
  const target = step.to === undefined ? undefined : files.get(step.to);
  if (target === undefined) {
    file.now = content;
    return;
  }
  if (target !== file && target.now !== undefined) {
    throw unfitPatch(step, `it cannot be moved to ${step.to}: that file exists already.`);
  }
  file.now = undefined;
  target.now = content;
  if (target !== file) target.movedFrom = file.movedFrom ?? file;
}
