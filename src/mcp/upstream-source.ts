import type { ToolSource } from '../contract/external.js';
import type { Tool } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import type { OfferedTools } from './list-tools.js';
import type { MalformedTools } from './malformed-tools.js';
import { comparePins, type PinDifference, type Pins, type SeenTool } from './tool-pins.js';
import { upstreamName } from './upstream-names.js';
import { defineUpstreamTool, type Upstream } from './upstream-tool.js';

/** The state of a server's tools. */
export interface UpstreamState {
  readonly name: string;
  /** Shown to models. */
  readonly shown: readonly string[];
  readonly difference: PinDifference;
  /** Tools that are malformed, or that no executor can accept, and the reasons. */
  readonly broken: Readonly<Record<string, string>>;
  /** Why the server does not answer; undefined: it does, or it was not asked yet. */
  readonly problem?: string;
}

export interface Server {
  readonly upstream: Upstream;
  /** Only these of the server's tools. Undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** The tools that a person has seen. Undefined: the first offered tools count as seen. */
  pins: Pins | undefined;
  /** Pins are not required. */
  readonly unpinned: boolean;
  /** The last list from the server. Undefined: there was none yet. */
  offered?: OfferedTools;
  problem?: string;
}

const NO_PINS: Pins = new Map();
const NONE_MALFORMED: MalformedTools = new Map();
const SAME: PinDifference = { added: [], changed: [], gone: [] };

/**
 * The tools of several servers: those that a server offers and a person has seen. A broken server does not hide the
 * tools of others.
 */
export class UpstreamSource implements ToolSource {
  readonly #servers: readonly Server[];
  readonly #listeners = new Set<() => void>();
  /** Undefined: they were not read yet. */
  #tools: readonly Tool[] | undefined;
  #revision = 0;
  /** By the name that models call: the reason why a tool is missing. */
  #hidden: ReadonlyMap<string, string> = new Map();
  #states: readonly UpstreamState[] = [];
  /** A tool object is kept as long as the server's description of the tool is unchanged. */
  readonly #made = new Map<SeenTool, Tool | Error>();

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
    this.update();
  }

  get tools(): readonly Tool[] {
    this.#tools ??= this.#read();
    return this.#tools;
  }

  get revision(): number {
    return this.#revision;
  }

  get states(): readonly UpstreamState[] {
    this.#tools ??= this.#read();
    return this.#states;
  }

  /** The server's last list; undefined: it has sent none yet. */
  offeredBy(name: string): readonly SeenTool[] | undefined {
    return this.#servers.find(({ upstream }) => upstream.name === name)?.offered?.tools;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  whyMissing(name: string): ToolError | undefined {
    this.#tools ??= this.#read();
    const why = this.#hidden.get(name);
    return why === undefined ? undefined : new ToolError('unknown_tool', `Cannot call ${name}: ${why}`);
  }

  /** Call it after a server has listed its tools, or its connection was lost. */
  update(): void {
    const before = this.#tools;
    // A client starts one process only to learn the protocol's revision, so pinned tools are created when they are
    // asked for.
    if (before === undefined && this.#servers.every(({ offered }) => offered === undefined)) return;
    const tools = this.#read();
    if (before !== undefined && isSame(tools, before)) return;
    this.#tools = tools;
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  #read(): readonly Tool[] {
    const tools: Tool[] = [];
    const hidden = new Map<string, string>();
    this.#states = this.#servers.map((server) => this.#stateOf(server, tools, hidden));
    this.#hidden = hidden;
    return Object.freeze(tools);
  }

  #stateOf(server: Server, tools: Tool[], hidden: Map<string, string>): UpstreamState {
    const { upstream, only, unpinned, problem } = server;
    const offered = server.offered?.tools;
    const malformed = server.offered?.malformed ?? NONE_MALFORMED;
    if (server.pins === undefined && offered !== undefined && !unpinned)
      server.pins = new Map(offered.map((tool) => [tool.name, tool]));
    const pins = server.pins ?? NO_PINS;
    const compared = unpinned || offered === undefined ? SAME : comparePins(pins, offered);
    const difference = { ...compared, gone: compared.gone.filter((name) => !malformed.has(name)) };
    const isLeftOut = (name: string): boolean => only !== undefined && !only.has(name);
    const whyHidden = (name: string): string | undefined => {
      if (isLeftOut(name)) return 'the configuration leaves it out.';
      const remedy = `A person looks at it with: toolexec mcp trust ${upstream.name}`;
      if (difference.added.includes(name)) return `it is new since its server was trusted. ${remedy}`;
      if (difference.changed.includes(name)) return `it has changed since its server was trusted. ${remedy}`;
      return difference.gone.includes(name) ? 'its server no longer offers it.' : undefined;
    };
    const shown: string[] = [];
    const broken = new Map([...malformed].filter(([name]) => !isLeftOut(name)));
    for (const [name, why] of broken) hidden.set(upstreamName(upstream.name, name), unusable(why));
    // Until the server has listed its tools, the pins take their place.
    for (const tool of offered ?? [...pins.values()]) {
      const name = upstreamName(upstream.name, tool.name);
      const why = whyHidden(tool.name);
      const made = why === undefined ? this.#make(upstream, pins.get(tool.name) ?? tool) : undefined;
      if (made === undefined) hidden.set(name, why ?? '');
      else if (made instanceof Error) {
        broken.set(tool.name, made.message);
        hidden.set(name, unusable(made.message));
      } else {
        tools.push(made);
        shown.push(tool.name);
      }
    }
    for (const name of difference.gone) hidden.set(upstreamName(upstream.name, name), whyHidden(name) ?? '');
    return {
      name: upstream.name,
      shown,
      difference,
      broken: Object.fromEntries(broken),
      ...(problem === undefined ? {} : { problem }),
    };
  }

  #make(upstream: Upstream, seen: SeenTool): Tool | Error {
    const known = this.#made.get(seen);
    if (known !== undefined) return known;
    let made: Tool | Error;
    try {
      made = defineUpstreamTool(upstream, seen);
    } catch (error) {
      made = error instanceof Error ? error : new Error(String(error));
    }
    this.#made.set(seen, made);
    return made;
  }
}

function unusable(why: string): string {
  return `its definition cannot be used: ${why}`;
}

function isSame(tools: readonly Tool[], others: readonly Tool[]): boolean {
  return tools.length === others.length && tools.every((tool, at) => tool === others[at]);
}
