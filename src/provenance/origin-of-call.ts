import type { ToolResult } from '../contract/call.js';
import type { Containment, Effect } from '../contract/effect.js';
import type { Origin } from '../contract/origin.js';
import { OUTPUT_SCHEME } from '../contract/output-limits.js';
import type { Tool } from '../contract/tool.js';
import { readHost } from '../patterns/host.js';

const USER: readonly Origin[] = Object.freeze(['user']);
const WORKSPACE: readonly Origin[] = Object.freeze(['workspace']);
const COMMAND: readonly Origin[] = Object.freeze(['command']);
/** Of a kept output whose call is not known here: it may be the output of anything. */
const ANYTHING: readonly Origin[] = Object.freeze(['command', 'workspace', 'web:*']);

/** The facts that determine an origin. */
export interface OriginFacts {
  readonly toolName: string;
  /** The tool is a separate program. */
  readonly isProgram: boolean;
  /** The MCP server that runs the tool, if there is one. */
  readonly server?: string | undefined;
  readonly effects: readonly Effect[];
  readonly containment: Pick<Containment, 'network'>;
}

/** The origins of a result, derived from what its call may have read. Most results share one list. */
export function originOfCall(facts: OriginFacts): readonly Origin[] {
  const { effects, isProgram } = facts;
  if (effects.length === 0 && !isProgram) return USER;
  const [only] = effects;
  if (effects.length === 1 && !isProgram && only !== undefined && 'path' in only) return sourceOf(only.path);
  const found = new Set<Origin>(isProgram ? [`program:${facts.toolName}`] : []);
  for (const effect of effects) for (const origin of originsOf(effect, facts)) found.add(origin);
  return Object.freeze([...found]);
}

const servers = new WeakMap<Tool, string>();

/** Returns the MCP server that runs a tool, even if the tool's effects are unknown. */
export function stateServer(tool: Tool, server: string): void {
  servers.set(tool, server);
}

export function serverOf(tool: Tool): string | undefined {
  return servers.get(tool);
}

/** Kept outputs and background shells: their text is that of the call which made them. */
const sources = new Map<string, readonly Origin[]>();
const MOST_SOURCES = 10_000;

/** Notes the origin of a call for later calls that read its kept output, or the output of its shell. */
export function stateSource(source: string, origin: readonly Origin[]): void {
  sources.set(source, origin);
  const [oldest] = sources.keys();
  if (sources.size > MOST_SOURCES && oldest !== undefined) sources.delete(oldest);
}

/** The whole of a result that was cut, also by another process, has the origin of the result. */
export function stateKeptOutput({ outputRef, metadata: { origin } }: ToolResult): void {
  if (outputRef !== undefined && Array.isArray(origin) && !sources.has(outputRef))
    stateSource(outputRef, origin as readonly Origin[]);
}

/** The origins of a file, a kept output, or the output of a background shell. */
export function sourceOf(path: string): readonly Origin[] {
  return sources.get(path) ?? (path.startsWith(OUTPUT_SCHEME) ? ANYTHING : WORKSPACE);
}

function originsOf(effect: Effect, { toolName, server, containment }: OriginFacts): readonly Origin[] {
  switch (effect.kind) {
    case 'read':
    case 'write':
    case 'delete':
      return sourceOf(effect.path);
    case 'fetch':
      return [`web:${readHost(effect.url).host || '*'}`];
    case 'call':
      return [`mcp:${effect.server}`];
    case 'run':
      return containment.network ? ['command', 'workspace', 'web:*'] : ['command', 'workspace'];
    case 'process':
      return sources.get(effect.id) ?? COMMAND;
    case 'ask':
      return USER;
    case 'unknown':
      // It may have read anything.
      return [server === undefined ? `program:${toolName}` : `mcp:${server}`];
  }
}
