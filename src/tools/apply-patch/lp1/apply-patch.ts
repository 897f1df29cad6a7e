import { posix } from 'node:path';
import { Draft } from '../draft.js';
import { applySection } from './apply-section.js';
import type { Patch } from './patch.js';

/**
 * The new content of each file that the patch names, under its first spelling there; all of them, or it throws. Pure:
 * `read` gives the present content, undefined for a file that does not exist, and is asked once a file.
 * @throws ToolError `patch_failed` with the file, the patch's line, and what was looked for and how often it was found
 */
export function applyPatch(
  patch: Patch,
  read: (path: string) => Uint8Array | undefined,
): Map<string, Uint8Array> {
  const drafts = new Map<string, { readonly path: string; readonly draft: Draft }>();
  for (const section of patch.files) {
    const name = posix.normalize(section.path);
    const known = drafts.get(name) ?? { path: section.path, draft: new Draft(read(section.path)) };
    drafts.set(name, known);
    finish(applySection(section, known.draft));
  }
  const written = new Map<string, Uint8Array>();
  for (const { path, draft } of drafts.values()) {
    const bytes = draft.bytes();
    if (bytes !== undefined) written.set(path, bytes);
  }
  return written;
}

function finish(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}
