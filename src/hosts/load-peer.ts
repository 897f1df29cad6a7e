import { ToolError } from '../errors/tool-error.js';

/** A package that the program brings along; the range is that of `package.json`. */
interface Peer {
  readonly name: string;
  readonly range: string;
}

/** @throws ToolError `config_invalid`, which names the package and the range, where it is not installed */
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
