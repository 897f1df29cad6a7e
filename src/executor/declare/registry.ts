import { byNearness, nearestName } from '../../base/nearest-name.js';
import { requireArgument, showGiven } from '../../base/normalize-options.js';
import type { Registry, Tool, ToolDefinition } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { compiledTool, toolAnnotations } from './compiled-tool.js';

/**
 * Finds tools by name and alias (D027, A003–A006). A lookup takes the same time for any number of tools.
 * @param tools registered immediately, in order.
 * @throws ToolError `duplicate_tool`, `config_invalid`.
 */
export function createRegistry(tools: readonly Tool[] = []): Registry {
  requireArgument('createRegistry()', tools, Array.isArray, 'a list of tools');
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

/**
 * A schema that cannot be used is refused when its tool is registered. After this number of tools, a schema
 * that must be compiled or converted by its library to be checked is checked at first use instead: checking
 * thousands would take seconds.
 */
const MOST_CHECKED = 32;

class ToolRegistry implements Registry {
  readonly #byName = new Map<string, Tool>();
  readonly #tools = new Map<string, Tool>();
  #sorted: readonly Tool[] | undefined;
  #definitions: readonly ToolDefinition[] | undefined;
  #revision = 0;
  readonly #listeners = new Set<() => void>();

  get revision(): number {
    return this.#revision;
  }

  register(tool: Tool): void {
    requireTool(tool);
    const names = tool.aliases.length === 0 ? [tool.name] : [tool.name, ...tool.aliases];
    for (let index = 0; index < names.length; index++) {
      const name = names[index] ?? '';
      const holder = this.#byName.get(name) ?? (names.indexOf(name) < index ? tool : undefined);
      if (holder === undefined) continue;
      throw new ToolError(
        'duplicate_tool',
        `Cannot register tool "${tool.name}": the name "${name}" is taken by "${holder.name}". Use another name.`,
        { details: { name, holder: holder.name } },
      );
    }
    compiledTool(tool).check(this.#tools.size < MOST_CHECKED ? 'whole' : 'plainly');
    for (const name of names) this.#byName.set(name, tool);
    this.#tools.set(tool.name, tool);
    this.#sorted = undefined;
    this.#definitions = undefined;
    this.#revision++;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  find(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  get(name: string): Tool {
    const tool = this.#byName.get(name);
    if (tool === undefined) throw unknownTool(typeof name === 'string' ? name : showGiven(name), this.list());
    return tool;
  }

  list(): readonly Tool[] {
    this.#sorted ??= Object.freeze([...this.#tools.values()].sort(byName));
    return this.#sorted;
  }

  definitions(): readonly ToolDefinition[] {
    this.#definitions ??= Object.freeze(this.list().map(toDefinition));
    return this.#definitions;
  }
}

function requireTool(tool: unknown): asserts tool is Tool {
  const { name, aliases, execute, timeoutClass }: { readonly [key: string]: unknown } =
    typeof tool === 'object' && tool !== null ? (tool as Readonly<Record<string, unknown>>) : {};
  const isTool =
    typeof name === 'string' &&
    Array.isArray(aliases) &&
    typeof execute === 'function' &&
    typeof timeoutClass === 'string';
  if (isTool) return;
  const shown = typeof name === 'string' ? `"${name.slice(0, 80)}"` : `a value of type ${typeof tool}`;
  throw new ToolError(
    'config_invalid',
    `Cannot register ${shown}: it is not a tool. Declare it with defineTool().`,
  );
}

/**
 * Lists known tools: at most ten, the nearest names first. `details` holds the same list.
 * @param tools the tools that may be named
 */
export function unknownTool(name: string, tools: readonly Tool[]): ToolError {
  const names = byNearness(
    name,
    tools.map((tool) => ({ name: tool.name, others: tool.aliases })),
  );
  const meant = nearestName(
    name,
    tools.flatMap((tool) => [tool.name, ...tool.aliases]),
  );
  const owner = tools.find((tool) => tool.name === meant || tool.aliases.some((alias) => alias === meant));
  // The suggested tool leads the list, even if its alias is the near name.
  const listed = owner === undefined ? names : [owner.name, ...names.filter((other) => other !== owner.name)];
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  const suggestion = owner === undefined ? '' : ` Did you mean "${owner.name}"?`;
  const known = listed.slice(0, MOST_LISTED);
  const more = listed.length - known.length;
  const list = known.length === 0 ? 'none' : `${known.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  return new ToolError('unknown_tool', `Unknown tool "${shown}".${suggestion} Known tools: ${list}.`, {
    details: { name: shown, known, more },
  });
}

const MOST_LISTED = 10;

function toDefinition(tool: Tool): ToolDefinition {
  const { name, title, description } = tool;
  const annotations = toolAnnotations(tool);
  const { output } = compiledTool(tool);
  return Object.freeze({
    name,
    ...(title === undefined ? undefined : { title }),
    description,
    inputSchema: compiledTool(tool).inputSchema(),
    ...(output === undefined ? undefined : { outputSchema: output.jsonSchema }),
    ...(annotations === undefined ? undefined : { annotations }),
  });
}

// Compares by bytes, so that the order is the same on every machine and in every locale (D112).
function byName(a: Tool, b: Tool): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** The module-wide registry, for programs whose tools register themselves on import (A006). */
export const defaultRegistry: Registry = createRegistry();
