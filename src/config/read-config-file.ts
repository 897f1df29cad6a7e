import { dirname, join } from 'node:path';
import { showPath } from '../base/show-setting.js';
import { ToolError } from '../errors/tool-error.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { decodeText, ReadFailure } from '../platform/fs/read-file.js';
import { type ReadBytesOptions, readFileBytes } from '../platform/fs/read-file-bytes.js';

const MAX_BYTES = 1024 * 1024;

/** A configuration, read once: the checked bytes are the used bytes. */
export interface ConfigText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/**
 * @param shown the name in messages.
 * @throws ToolError `config_invalid` if it is unreadable, larger than a megabyte, or not UTF-8.
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

/** Runs an action that reads, and reports a failure in one line. */
export function orInvalid<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    const { reason, remedy } = error;
    throw new ToolError('config_invalid', `Cannot read ${what}: ${reason} ${remedy}`, { cause: error });
  }
}

const NAME = 'toolexec.toml';

/**
 * A project's configuration file: in the directory itself, or in the nearest parent up to the one with
 * `.git`. Without such a parent only the directory itself counts, because parents may belong to another
 * project.
 */
export function findProjectFile(cwd: string): string | undefined {
  return placesToLook(realPlace(cwd))
    .map((directory) => join(directory, NAME))
    .find(exists);
}

function placesToLook(directory: string): string[] {
  const places: string[] = [];
  for (let at = directory; ; at = dirname(at)) {
    places.push(at);
    if (exists(join(at, '.git'))) return places;
    if (dirname(at) === at) return [directory];
  }
}

// A dangling link exists too: reading it reports the fault. An entry that cannot be examined is out of reach
// anyway.
function exists(path: string): boolean {
  try {
    return entryStat(path) !== undefined;
  } catch {
    return false;
  }
}
