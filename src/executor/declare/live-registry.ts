import type { ToolSource } from '../../contract/external.js';
import type { Registry, Tool, ToolDefinition } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { createRegistry, unknownTool } from './registry.js';

/**
 * Combines the tools of a registry with the tools that the sources have at the moment. The registry's names
 * take precedence over a source's names, and an earlier source over a later one; a tool with a taken name is
 * left out and reported.
 * @param onLeftOut called once for each tool that is left out.
 */
export function createLiveRegistry(
  own: Registry,
  sources: readonly ToolSource[],
  onLeftOut: (tool: Tool, holder: Tool) => void,
): Registry {
  return new LiveRegistry(own, sources, onLeftOut);
}

class LiveRegistry implements Registry {
  readonly #own: Registry;
  readonly #sources: readonly ToolSource[];
  readonly #onLeftOut: (tool: Tool, holder: Tool) => void;
  readonly #told = new WeakSet<Tool>();
  #seen = -1;
  #all: Registry = createRegistry();

  constructor(own: Registry, sources: readonly ToolSource[], onLeftOut: (tool: Tool, holder: Tool) => void) {
    this.#own = own;
    this.#sources = sources;
    this.#onLeftOut = onLeftOut;
  }

  get revision(): number {
    return this.#sources.reduce((sum, { revision }) => sum + revision, this.#own.revision);
  }

  register(tool: Tool): void {
    const holder = this.find(tool.name);
    if (holder !== undefined && this.#own.find(tool.name) === undefined) {
      throw new ToolError('duplicate_tool', `Cannot register tool "${tool.name}": the name is taken.`, {
        details: { name: tool.name, holder: holder.name },
      });
    }
    this.#own.register(tool);
  }

  find(name: string): Tool | undefined {
    return this.#current().find(name);
  }

  has(name: string): boolean {
    return this.#current().has(name);
  }

  get(name: string): Tool {
    const tool = this.find(name);
    if (tool === undefined) throw this.whyMissing(name) ?? unknownTool(name, this.list());
    return tool;
  }

  whyMissing(name: string): ToolError | undefined {
    for (const source of this.#sources) {
      const reason = source.whyMissing?.(name);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  onChange(listener: () => void): () => void {
    const followed = [this.#own, ...this.#sources].map((each) => each.onChange?.(listener));
    return () => {
      for (const forget of followed) forget?.();
    };
  }

  list(): readonly Tool[] {
    return this.#current().list();
  }

  definitions(): readonly ToolDefinition[] {
    return this.#current().definitions();
  }

  /**
   * Rebuilt whenever a source or the registry has changed. A reader sees either the old or the new registry.
   */
  #current(): Registry {
    const { revision } = this;
    if (revision === this.#seen) return this.#all;
    const all = createRegistry(this.#own.list());
    for (const tool of this.#sources.flatMap(({ tools }) => tools)) {
      const holder = [tool.name, ...tool.aliases]
        .map((name) => all.find(name))
        .find((found) => found !== undefined);
      if (holder === undefined) all.register(tool);
      else this.#tellLeftOut(tool, holder);
    }
    this.#all = all;
    this.#seen = revision;
    return all;
  }

  #tellLeftOut(tool: Tool, holder: Tool): void {
    if (this.#told.has(tool)) return;
    this.#told.add(tool);
    this.#onLeftOut(tool, holder);
  }
}
