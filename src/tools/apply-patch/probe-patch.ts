import type { ProbeContext } from '../../contract/tool.js';
import { isToolError } from '../../errors/tool-error.js';
import { Draft } from './draft.js';
import { type OpenFile, type OpenFiles, openFiles } from './open-files.js';
import type { ParsedPatch } from './patch-step.js';
import { compareFiles } from './report-changes.js';
import { takeSteps } from './take-steps.js';

/**
 * After a crash: did it happen? Each file was replaced whole, but not all at the same moment. Where the patch fits now
 * and would not fit a second time, it has not been applied. Where it changes nothing any more, or all it does is to
 * create files that hold just what it says, it has. Else nobody can tell.
 */
export async function probePatch(
  patch: ParsedPatch,
  ctx: ProbeContext,
): Promise<'applied' | 'not_applied' | 'unknown'> {
  const rest = async (): Promise<void> => undefined;
  try {
    const found = await openFiles(patch, ctx.files, rest);
    const after = await take(patch, found);
    if (after === undefined) return (await isCreation(patch, found)) ? 'applied' : 'unknown';
    if (compareFiles(after.values()).every(({ status }) => status === 'unchanged')) return 'applied';
    return (await take(patch, after)) === undefined ? 'not_applied' : 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The files after the patch, in memory; undefined where it does not fit. */
async function take(patch: ParsedPatch, files: OpenFiles): Promise<OpenFiles | undefined> {
  const copy = mapFiles(files, (file) => file.draft.bytes());
  try {
    await takeSteps(patch, copy, async () => undefined);
    return copy;
  } catch (error) {
    if (isToolError(error, 'patch_failed')) return undefined;
    throw error;
  }
}

async function isCreation(patch: ParsedPatch, found: OpenFiles): Promise<boolean> {
  const made = await take(
    patch,
    mapFiles(found, () => undefined),
  );
  if (made === undefined) return false;
  return [...made].every(([path, { draft }]) => {
    const [now, there] = [draft.bytes(), found.get(path)?.before];
    return now !== undefined && there !== undefined && Buffer.compare(now, there) === 0;
  });
}

/** The same files with other content; two spellings stay one file. */
function mapFiles(files: OpenFiles, content: (file: OpenFile) => Uint8Array | undefined): OpenFiles {
  const copies = new Map<OpenFile, OpenFile>();
  for (const file of files.values()) {
    if (!copies.has(file))
      copies.set(file, { ...file, draft: new Draft(content(file)), movedFrom: undefined });
  }
  return new Map([...files].map(([path, file]) => [path, copies.get(file) ?? file]));
}
