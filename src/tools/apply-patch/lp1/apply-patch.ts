import { posix } from 'node:path';
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
  const spellings = new Map<string, string>();
  const contents = new Map<string, Uint8Array | undefined>();
  for (const section of patch.files) {
    const name = posix.normalize(section.path);
    const path = spellings.get(name) ?? section.path;
    if (!spellings.has(name)) {
      spellings.set(name, path);
      contents.set(path, read(path));
    }
    contents.set(path, finish(applySection(section, contents.get(path))));
  }
  const written = new Map<string, Uint8Array>();
  for (const [path, content] of contents) if (content !== undefined) written.set(path, content);
  return written;
}

function finish<Value>(steps: Generator<void, Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
