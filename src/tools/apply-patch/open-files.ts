import type { ContainedFiles } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { sha256Of } from '../files-read.js';
import { MAX_EDITED_BYTES, readIfThere } from '../read-if-there.js';
import { Draft } from './draft.js';
import type { ParsedPatch, PatchStep } from './patch-step.js';
import { namedBy } from './read-patch.js';

/** A file that a patch names, in memory. */
export interface OpenFile {
  /** As the patch names it first. */
  readonly path: string;
  readonly canonical: string;
  readonly before: Uint8Array | undefined;
  /** Of the content before; null where there is no file. */
  readonly sha256: string | null;
  readonly draft: Draft;
  /** Where its content was moved from. */
  movedFrom: OpenFile | undefined;
}

/** Files by every spelling that the patch has for them: two spellings of one file are one file. */
export type OpenFiles = ReadonlyMap<string, OpenFile>;

/**
 * Reads all files of a patch, in the order in which they are named.
 * @throws ToolError `patch_failed` where a link is to be deleted or moved, `limit_exceeded` when they are too large
 */
export async function openFiles(
  { steps }: ParsedPatch,
  files: ContainedFiles,
  between: () => Promise<void>,
): Promise<OpenFiles> {
  const bySpelling = new Map<string, OpenFile>();
  const byCanonical = new Map<string, OpenFile>();
  let total = 0;
  for (const step of steps) {
    if (step.effect !== 'write') await assertNoLink(step, files);
    for (const path of namedBy(step)) {
      if (bySpelling.has(path)) continue;
      const canonical = files.resolve?.(path) ?? path;
      const file = byCanonical.get(canonical) ?? (await open(path, canonical, files));
      if (!byCanonical.has(canonical)) total += file.before?.length ?? 0;
      if (total > MAX_EDITED_BYTES) throw tooLarge();
      byCanonical.set(canonical, file);
      bySpelling.set(path, file);
      await between();
    }
  }
  return bySpelling;
}

async function open(path: string, canonical: string, files: ContainedFiles): Promise<OpenFile> {
  const before = await readIfThere(path, files);
  const sha256 = before === undefined ? null : sha256Of(before);
  return { path, canonical, before, sha256, draft: new Draft(before), movedFrom: undefined };
}

// What would go is the link, and what was read is the file behind it.
async function assertNoLink({ path, line, effect }: PatchStep, files: ContainedFiles): Promise<void> {
  let type: string;
  try {
    ({ type } = await files.stat(path));
  } catch {
    // What is not there is spoken of when its step is taken.
    return;
  }
  if (type !== 'symlink') return;
  throw new ToolError(
    'patch_failed',
    `Cannot ${effect} ${path} (line ${line} of the patch): it is a symbolic link. Name the file itself.`,
    { details: { path, patch_line: line } },
  );
}

function tooLarge(): ToolError {
  return new ToolError(
    'limit_exceeded',
    `The files of the patch are too large together: at most ${MAX_EDITED_BYTES} bytes can be changed at once.`,
  );
}
