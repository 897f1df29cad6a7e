import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { ensureSecretFile } from '../platform/fs/secret-file.js';
import { stateDirectory } from '../platform/runtime/environment.js';

/** The token that clients must send over HTTP. Created on first use, with mode 0600. */
export function httpToken(): { readonly path: string; readonly token: string } {
  const path = join(stateDirectory(), 'toolexec', 'mcp-token');
  const token = ensureSecretFile(path, () => `${randomBytes(32).toString('base64url')}\n`).trim();
  if (/^[\w.~+/=-]{20,}$/.test(token)) return { path, token };
  const message = `Cannot use the token in "${path}": a token has 20 characters or more, without spaces. Remove the file to get one.`;
  throw new ToolError('config_invalid', message);
}
