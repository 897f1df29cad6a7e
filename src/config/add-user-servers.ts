import { parse, stringify } from 'smol-toml';
import { ToolError } from '../errors/tool-error.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { ReadFailure } from '../platform/fs/read-file.js';
import { updatePrivateFile } from '../platform/sqlite/private-file.js';
import { userConfigFile } from './add-user-rule.js';
import type { McpServerSettings } from './mcp-servers.js';

/** `[mcp.servers.NAME]` for each. */
export function serversAsToml(servers: Readonly<Record<string, McpServerSettings>>): string {
  const written = Object.entries(servers).map(([name, { timeoutMs, ...server }]) => [
    name,
    { ...server, ...(timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 }) },
  ]);
  return stringify({ mcp: { servers: Object.fromEntries(written) } }).replace(
    /^\[mcp\]\n|^\[mcp\.servers\]\n/gm,
    '',
  );
}

/**
 * Appends servers to the person's configuration and keeps the rest byte by byte.
 * @throws ToolError `config_invalid` if the file holds one of them, or lists its servers inline; it then stays unchanged
 */
export function addUserServers(
  servers: Readonly<Record<string, McpServerSettings>>,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const file = userConfigFile(env);
  const change = (bytes: Uint8Array | undefined): Uint8Array => {
    const before = Buffer.from(bytes ?? []).toString('utf8');
    const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
    const text = `${before}${gap}${serversAsToml(servers)}`;
    try {
      parse(text);
    } catch (cause) {
      const why = `Cannot add servers to "${file}": it holds one of them, or lists its servers inline. Add them by hand.`;
      throw new ToolError('config_invalid', why, { cause });
    }
    return Buffer.from(text);
  };
  try {
    updatePrivateFile(realPlace(file), change);
  } catch (error) {
    if (!(error instanceof ReadFailure)) throw error;
    const message = `Cannot add servers to "${file}": ${error.message}`;
    throw new ToolError('config_invalid', message, { cause: error });
  }
}
