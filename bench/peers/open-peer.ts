import { existsSync } from 'node:fs';

/** The peers, each with the number of calls that take it some milliseconds. */
export const PEERS = {
  mastra: { title: 'Mastra tool.execute', needs: '@mastra/core', calls: 4_000 },
  'openai-invoke': { title: 'OpenAI invokeFunctionTool', needs: '@openai/agents', calls: 1_600 },
  mcp: { title: 'MCP in memory', needs: '@modelcontextprotocol/client', calls: 200 },
  langchain: { title: 'LangChain tool().invoke', needs: '@langchain/core', calls: 200 },
  'ai-sdk': { title: 'AI SDK generateText', needs: 'ai', calls: 40 },
  'openai-run': { title: 'OpenAI Agents run', needs: '@openai/agents', calls: 16 },
} as const;

export type PeerName = keyof typeof PEERS;

export const PEER_NAMES = Object.keys(PEERS).filter(isPeer);

/** Somebody who can call the no-op tool. */
export interface Peer {
  /** Returns the output of the tool. */
  call(args: object): Promise<string>;
  /** The same for calls requested together; left out if that equals several calls of `call`. */
  callTogether?(batch: readonly object[]): Promise<readonly string[]>;
}

export function isPeer(name: string | undefined): name is PeerName {
  return name !== undefined && Object.hasOwn(PEERS, name);
}

/** They are no dependency of ours: they have a folder, and a lock file, of their own. */
export async function openPeer(name: PeerName): Promise<Peer | { readonly skipped: string }> {
  if (!existsSync(new URL(`node_modules/${PEERS[name].needs}/`, import.meta.url))) {
    return { skipped: 'not installed, see npm ci --prefix bench/peers' };
  }
  try {
    const peer: { openPeer(): Peer | Promise<Peer> } = await import(
      new URL(`${name}.mjs`, import.meta.url).href
    );
    return await peer.openPeer();
  } catch (error) {
    // Some ask for a newer Node than we do.
    return { skipped: `cannot be loaded by Node ${process.version}: ${String(error).split('\n')[0]}` };
  }
}
