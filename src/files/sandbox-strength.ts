import { isToolError } from '../errors/tool-error.js';
import { type ContainmentStrength, chooseOpener } from '../platform/fs/open-handle.js';

/** How well files are contained on this machine; `none`: no sandbox can be created. For `doctor`. */
export function sandboxStrength(): ContainmentStrength | 'none' {
  try {
    return chooseOpener().strength;
  } catch (error) {
    if (isToolError(error, 'config_invalid')) return 'none';
    throw error;
  }
}
