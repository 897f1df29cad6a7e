import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { ensureSecretFile } from '../platform/fs/secret-file.js';
import { stateDirectory } from '../platform/runtime/environment.js';
import { readPrivateFile } from '../platform/sqlite/private-file.js';

/** The token that clients must send over HTTP. Created on first use. @throws ToolError `config_invalid` */
export function httpToken(): { readonly path: string; readonly token: string } {
  const { path, text } = ownSecret('mcp-token', () => `${randomBytes(32).toString('base64url')}\n`);
  if (/^[\w.~+/=-]{20,}$/.test(text)) return { path, token: text };
  const why = 'a token has 20 characters or more, without spaces. Remove the file to get one.';
  throw new ToolError('config_invalid', `Cannot use the token in "${path}": ${why}`);
}

/** The key that signs the states which clients keep. Created on first use. @throws ToolError `config_invalid` */
export function stateKey(): string {
  const { path, text } = ownSecret('mcp-state-key', () => randomBytes(32).toString('hex'));
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new ToolError('config_invalid', `Cannot use the key in "${path}": it was changed. Remove the file.`);
}

/** A file that only this user can read (0600), also if another program has copied or restored it. */
function ownSecret(name: string, make: () => string): { readonly path: string; readonly text: string } {
  const path = join(stateDirectory(), 'toolexec', name);
  try {
    ensureSecretFile(path, make);
    return {
      path,
      text: Buffer.from(readPrivateFile(path) ?? [])
        .toString('utf8')
        .trim(),
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError('config_invalid', `Cannot use the secret in "${path}": ${why}`, { cause: error });
  }
}
