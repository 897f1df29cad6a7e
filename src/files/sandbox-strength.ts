import { isToolError } from '../errors/tool-error.js';
import { openPinner, type PinStrength } from '../platform/fs/pin.js';

/** How well files are contained on this machine; `none`: no sandbox can be made. For a doctor to tell. */
export function sandboxStrength(): PinStrength | 'none' {
  try {
    return openPinner().strength;
  } catch (error) {
    if (isToolError(error, 'config_invalid')) return 'none';
    throw error;
  }
}
