import { dirname } from 'node:path';
import { showPath } from '../base/show-setting.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { type ConfigLayer, EMPTY_LAYER, fileLayer } from './config-layer.js';
import { readConfigFile } from './read-config-file.js';

/** The path and the required owner of the administrator's configuration. */
export interface AdministratorPlace {
  /** Absolute. */
  readonly file: string;
  /** The user id that must own the file and its directory. */
  readonly owner: number;
}

/** Fixed: no variable and no option changes the path, so only root can act as the administrator. */
export const ADMINISTRATOR_PLACE: AdministratorPlace = Object.freeze({
  file: '/etc/toolexec/toolexec.toml',
  owner: 0,
});

export interface AdministratorLayer {
  readonly layer: ConfigLayer;
  /** The file, if there is one that counts. */
  readonly file?: string;
  readonly warnings: readonly string[];
}

/**
 * The settings that the machine's administrator has fixed. A file that another user could have written does
 * not count.
 * @throws ToolError `config_invalid` if it counts but is unreadable or invalid.
 */
export function administratorLayer(place: AdministratorPlace): AdministratorLayer {
  const { file } = place;
  if (isMissing(file)) return { layer: EMPTY_LAYER, warnings: [] };
  const flaw = [dirname(file), file].map((path) => flawOf(path, place)).find((one) => one !== undefined);
  if (flaw !== undefined) {
    const remedy = 'Make root its owner, and let only root write it (chown root, chmod go-w).';
    return { layer: EMPTY_LAYER, warnings: [`${showPath(file)} is not applied: ${flaw}. ${remedy}`] };
  }
  const { text } = readConfigFile(file, { acceptPipes: false });
  return { layer: fileLayer({ kind: 'administrator', file, text, shown: file }), file, warnings: [] };
}

// A file that cannot be examined is not missing: reading it reports the reason, instead of running without
// its limits.
function isMissing(file: string): boolean {
  try {
    return entryStat(file) === undefined;
  } catch {
    readConfigFile(file, { acceptPipes: false });
    return false;
  }
}

function flawOf(path: string, { file, owner }: AdministratorPlace): string | undefined {
  const entry = entryStat(path);
  const isRight = path === file ? entry?.isFile() : entry?.isDirectory();
  if (entry === undefined || isRight !== true)
    return `${showPath(path)} is not a ${path === file ? 'regular file' : 'directory'}; a link does not count`;
  if (entry.uid !== owner) return `${showPath(path)} does not belong to root`;
  return (entry.mode & OTHERS_WRITE) === 0 ? undefined : `users other than root may write ${showPath(path)}`;
}

const OTHERS_WRITE = 0o022;
