import { REDACTION_MARKER } from '../contract/call.js';
import type { ContainedFiles } from '../contract/files.js';
import type { ProbeContext } from '../contract/tool.js';
import { isToolError, ToolError } from '../errors/tool-error.js';

/** A larger file is not edited as a whole. */
export const MAX_EDITED_BYTES = 64 * 1024 * 1024;

/**
 * Reads a whole file before a change; undefined if it does not exist.
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

/**
 * Refuses text that contains our redaction marker: written to a file, it would destroy the secret (F024).
 * @throws ToolError `bad_args`
 */
export function assertNotRedacted(what: string, texts: Iterable<string>): void {
  for (const text of texts) {
    if (!text.includes(REDACTION_MARKER)) continue;
    throw new ToolError(
      'bad_args',
      `Cannot write ${what}: it holds ${REDACTION_MARKER}, which stands for a hidden value and is not in the file. ` +
        'Leave the lines that have it out of the change.',
    );
  }
}

/** For tools that only make one change to files: after a crash, the state of the files is the answer. */
export function probeFiles(_args: unknown, { lastChange }: ProbeContext): ProbeContext['lastChange'] {
  return lastChange;
}

/** The file system's error code (`ENOENT`, `EACCES`, …) of a failed operation. */
export function errnoOf(error: unknown): string | undefined {
  if (!isToolError(error)) return undefined;
  const { errno } = error.details;
  return typeof errno === 'string' ? errno : undefined;
}
