import type { ContainedFiles } from '../contract/files.js';
import { ToolError } from '../errors/tool-error.js';
import { errnoOf } from './errno-of.js';

/** More than this is no file that is edited as a whole. */
export const MAX_EDITED_BYTES = 64 * 1024 * 1024;

/**
 * A file's whole content, to be changed; undefined where there is no file.
 * @throws ToolError `execution_failed` for more than 64 MiB
 */
export async function readIfThere(path: string, files: ContainedFiles): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path, { length: MAX_EDITED_BYTES + 1 });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (bytes.length <= MAX_EDITED_BYTES) return bytes;
  throw new ToolError(
    'execution_failed',
    `${path} is too large to be changed as a whole: at most ${MAX_EDITED_BYTES} bytes can be.`,
  );
}
