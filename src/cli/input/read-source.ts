import { ReadFailure } from '../../platform/read-failure.js';
import { readTextFile } from '../../platform/read-text-file.js';
import type { Stdio } from '../../platform/stdio.js';
import { UsageError } from '../usage-error.js';

const MAX_BYTES = 64 * 1024 * 1024;

export interface SourceText {
  /** For messages: the quoted file name, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/**
 * The text of a file, or of standard input for `-` and for nothing.
 * @param keepMark whether a byte order mark is a part of it
 * @throws UsageError with one line that says what, why and what to do.
 */
export async function readSource(
  source: string | undefined,
  stdio: Stdio,
  keepMark = false,
): Promise<SourceText> {
  const name = source === undefined || source === '-' ? 'standard input' : `"${source}"`;
  if (source === undefined && stdio.stdin.isTerminal) {
    throw new UsageError(
      `Cannot read ${name}: it is a terminal. Name a file, pipe something in, or say - to type.`,
    );
  }
  try {
    const fromStdin = source === undefined || source === '-';
    return {
      name,
      text: fromStdin
        ? await stdio.stdin.readText(MAX_BYTES, keepMark)
        : readTextFile(source, MAX_BYTES, keepMark),
    };
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    throw new UsageError(`Cannot read ${name}: ${error.reason} ${error.remedy}`, { cause: error });
  }
}
