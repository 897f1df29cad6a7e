import { dirname } from 'node:path';
import { showPath } from '../base/show-setting.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { type ConfigLayer, EMPTY_LAYER, fileLayer } from './config-layer.js';
import { readConfigFile } from './read-config-file.js';

/** Where the administrator's configuration is, and whose it has to be. */
export interface AdministratorPlace {
  /** Absolute. */
  readonly file: string;
  /** The number of the user that the file and its directory have to belong to. */
  readonly owner: number;
}

/** Fixed: no variable and no option names another place, so that only root can speak for the administrator. */
export const ADMINISTRATOR_PLACE: AdministratorPlace = Object.freeze({
  file: '/etc/toolexec/toolexec.toml',
  owner: 0,
});

export interface AdministratorLayer {
  readonly layer: ConfigLayer;
  /** The file, where there is one that counts. */
  readonly file?: string;
  readonly warnings: readonly string[];
}

/**
 * What the administrator of the machine has fixed. A file that another user could have written counts for nothing.
 * @throws ToolError `config_invalid` when it counts and cannot be read, or holds what is not understood.
 */
export function administratorLayer(place: AdministratorPlace): AdministratorLayer {
  const { file } = place;
  if (isMissing(file)) return { layer: EMPTY_LAYER, warnings: [] };
  const flaw = [dirname(file), file].map((path) => flawOf(path, place)).find((one) => one !== undefined);
  if (flaw !== undefined) {
    const remedy = 'Let it belong to root, and let only root write it (chown root, chmod go-w).';
    return { layer: EMPTY_LAYER, warnings: [`${showPath(file)} is not applied: ${flaw}. ${remedy}`] };
  }
  const { text } = readConfigFile(file, { acceptPipes: false });
  return { layer: fileLayer({ kind: 'administrator', file, text, shown: file }), file, warnings: [] };
}

// What cannot even be looked at is not missing: reading it says why, and nothing runs as if nothing were fixed.
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
    return `${showPath(path)} is no ${path === file ? 'file' : 'directory'} of its own`;
  if (entry.uid !== owner) return `${showPath(path)} does not belong to root`;
  return (entry.mode & OTHERS_WRITE) === 0 ? undefined : `others than root may write ${showPath(path)}`;
}

const OTHERS_WRITE = 0o022;
