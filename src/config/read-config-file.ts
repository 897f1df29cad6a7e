import { showPath } from '../base/show-setting.js';
import { ToolError } from '../errors/tool-error.js';
import { decodeText } from '../platform/decode-text.js';
import { ReadFailure } from '../platform/read-failure.js';
import { type ReadBytesOptions, readFileBytes } from '../platform/read-file-bytes.js';

const MAX_BYTES = 1024 * 1024;

/** A configuration as it was read, once: what is judged by its bytes is what is used. */
export interface ConfigText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * @param shown how messages name it.
 * @throws ToolError `config_invalid` when it cannot be read, is larger than a megabyte, or no text in UTF-8.
 */
export function readConfigFile(
  file: string,
  options: Omit<ReadBytesOptions, 'maxBytes'>,
  shown = file,
): ConfigText {
  return orInvalid(`the configuration "${showPath(shown)}"`, () => {
    const bytes = readFileBytes(file, { ...options, maxBytes: MAX_BYTES });
    return { bytes, text: decodeText(bytes) };
  });
}

/** What an action that reads gives; that something cannot be read is said in one line. */
export function orInvalid<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    const { reason, remedy } = error;
    throw new ToolError('config_invalid', `Cannot read ${what}: ${reason} ${remedy}`, { cause: error });
  }
}
