import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Tool } from '@modelcontextprotocol/client';
import canonicalize from 'canonicalize';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { type FileWatch, watchFiles } from '../platform/fs/watch-file.js';
import { stateDirectory } from '../platform/runtime/environment.js';
import { MOST_PRIVATE_BYTES, readPrivateFile, updatePrivateFile } from '../platform/sqlite/private-file.js';

/** The parts of a tool that models see and clients use, as a person has seen them. */
export interface SeenTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Tool['inputSchema'];
  readonly outputSchema?: Tool['outputSchema'];
  readonly annotations?: Tool['annotations'];
}

/** The tools of a server as a person has approved them, by name. */
export type Pins = ReadonlyMap<string, SeenTool>;

/** The differences between a server's tools and its pins. Names, sorted. */
export interface PinDifference {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

export function toSeenTool(tool: Tool): SeenTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

/** SHA-256 of the canonical JSON: the order of members does not matter. */
export function pinHash(tool: SeenTool): string {
  let hash = hashes.get(tool);
  if (hash === undefined) {
    hash = createHash('sha256')
      .update(canonicalize(toSeenTool(tool)) ?? '')
      .digest('hex');
    hashes.set(tool, hash);
  }
  return hash;
}

/** Pins are compared with every list of their server. */
const hashes = new WeakMap<SeenTool, string>();

export function comparePins(pins: Pins, tools: readonly SeenTool[]): PinDifference {
  const names = new Set(tools.map(({ name }) => name));
  const isChanged = (tool: SeenTool): boolean => {
    const pinned = pins.get(tool.name);
    return pinned !== undefined && pinHash(pinned) !== pinHash(tool);
  };
  return {
    added: tools.flatMap(({ name }) => (pins.has(name) ? [] : [name])).sort(),
    changed: tools.flatMap((tool) => (isChanged(tool) ? [tool.name] : [])).sort(),
    gone: [...pins.keys()].filter((name) => !names.has(name)).sort(),
  };
}

/** Stored next to the record of trusted projects, never in a project: mode 0600. */
function place(): string {
  return join(stateDirectory(), 'toolexec', 'mcp-pins.json');
}

/** @throws ToolError `config_invalid` for a record that is damaged, or that another user could have written */
export function readPins(server: string): Pins | undefined {
  const servers = orUnusable(() => parseOnce(readPrivateFile(place())));
  // A server may be named like a property that every object has.
  const tools = Object.hasOwn(servers, server) ? servers[server] : undefined;
  return tools === undefined ? undefined : new Map(tools.map((tool) => [tool.name, tool]));
}

/**
 * Calls back soon after the record has changed, also through another process. Keeps this program running until it is
 * closed.
 */
export function watchPins(onChange: () => void): FileWatch {
  let isFirst = true;
  return watchFiles([place()], () => {
    // It also calls back at once.
    if (!isFirst) onChange();
    isFirst = false;
  });
}

/** The new pins, with the earlier object for each tool that is the same: tools are made once for each object. */
export function renewPins(before: Pins | undefined, now: Pins): Pins {
  const renewed = [...now].map(([name, tool]): [string, SeenTool] => {
    const earlier = before?.get(name);
    const isSame = earlier === tool || (earlier !== undefined && pinHash(earlier) === pinHash(tool));
    return [name, isSame ? earlier : tool];
  });
  return new Map(renewed);
}

/** @throws ToolError `config_invalid`, also for tools that are too large to be read again */
export function writePins(server: string, tools: readonly SeenTool[]): void {
  orUnusable(() =>
    updatePrivateFile(place(), (bytes) => {
      const servers = { ...parse(bytes), [server]: tools.map(toSeenTool) };
      const record = Buffer.from(`${JSON.stringify({ version: 1, servers })}\n`);
      if (record.length <= MOST_PRIVATE_BYTES) return record;
      const message = `Cannot pin the tools of ${server}: the pins of all servers would have ${record.length} bytes, and at most ${MOST_PRIVATE_BYTES} are kept. Remove servers that you do not use from the configuration.`;
      throw new ToolError('config_invalid', message);
    }),
  );
}

type Servers = Readonly<Record<string, readonly SeenTool[]>>;

let last: { readonly bytes: Uint8Array; readonly servers: Servers } | undefined;

/** Each server of a gateway reads the record, and the watch reads it again: the same bytes are the same objects. */
function parseOnce(bytes: Uint8Array | undefined): Servers {
  if (bytes === undefined) return {};
  if (last === undefined || Buffer.compare(last.bytes, bytes) !== 0) last = { bytes, servers: parse(bytes) };
  return last.servers;
}

function parse(bytes: Uint8Array | undefined): Servers {
  if (bytes === undefined) return {};
  const record: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  const { version, servers } = (record ?? {}) as { readonly version?: unknown; readonly servers?: unknown };
  if (version !== 1 || typeof servers !== 'object' || servers === null) throw new Error('it is damaged');
  return servers as Servers;
}

function orUnusable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isToolError(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    const message = `Cannot use the pins of MCP servers in "${place()}": ${why.replace(/\.$/, '')}. Remove the file, and trust your servers again.`;
    throw new ToolError('config_invalid', message, { cause: error });
  }
}
