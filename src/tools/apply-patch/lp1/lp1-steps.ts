import type { PatchStep } from '../patch-step.js';
import { parsePatch } from './parse-patch.js';
import type { Operation } from './patch.js';

/** An LP1 patch as steps: one for each file section. */
export function lp1Steps(text: string): PatchStep[] {
  return parsePatch(text).files.map((section) => ({
    line: section.line,
    path: section.path,
    effect: 'write',
    added: section.operations.flatMap(addedBy),
    run: (draft, { applySection }) => applySection(section, draft),
  }));
}

function addedBy(operation: Operation): readonly string[] {
  return 'lines' in operation ? operation.lines : [];
}
