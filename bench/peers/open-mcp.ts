import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface McpPeer {
  call(args: object): Promise<string>;
  close(): Promise<void>;
}

/** An MCP client and server in this process. Installs them when they are missing. */
export async function openMcp(): Promise<McpPeer | { readonly skipped: string }> {
  const skipped = install();
  if (skipped !== undefined) return { skipped };
  const peer: { linkMcp(): Promise<McpPeer> } = await import(new URL('mcp.mjs', import.meta.url).href);
  return peer.linkMcp();
}

/** They are no dependency of ours: they have a folder, and a lock file, of their own. */
function install(): string | undefined {
  if (existsSync(new URL('node_modules/', import.meta.url))) return undefined;
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: 'ignore',
  });
  if (status === 0) return undefined;
  return error === undefined ? `npm ci ended with code ${status}` : error.message;
}
