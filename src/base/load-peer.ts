import { ToolError } from '../errors/tool-error.js';

/** A package that the user installs; the range is the one in `package.json`. */
interface Peer {
  readonly name: string;
  readonly range: string;
}

/**
 * Loads a module that needs such a package.
 * @throws ToolError `config_invalid`, which names the package and the range, if it is not installed
 */
export async function loadPeer<T>(door: string, { name, range }: Peer, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const message = `Cannot load ${door}: it needs ${name} ${range}. Install it: npm install ${name}@${range}`;
    throw new ToolError('config_invalid', message, { cause: error });
  }
}
