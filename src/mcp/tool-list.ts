import type { Tool } from '@modelcontextprotocol/server';
import type { Executor } from '../contract/executor.js';
import type { JsonSchema } from '../contract/json.js';
import type { ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { readDefinitions } from '../executor/declare/shown-definitions.js';

/** The tools that are served now. Sources of tools may change them at any time. */
export interface ToolList {
  all(): Tool[];
  find(name: string): Tool | undefined;
}

export interface ShownTools {
  readonly tools?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
}

/**
 * @throws ToolError `unknown_tool` for a name that the executor does not have, `config_invalid` for a tool that changes
 * things
 */
export function createToolList(
  executor: Executor,
  { tools, readOnly = false }: ShownTools,
  hidden: readonly string[] = [],
): ToolList {
  const names = tools === undefined ? undefined : new Set(tools);
  if (names !== undefined) requireKnown(readDefinitions(executor), names, readOnly);
  let from: readonly ToolDefinition[] = [];
  let shown: ReadonlyMap<string, ToolDefinition> = new Map();
  let byName = new Map<string, Tool>();
  const current = (): ReadonlyMap<string, ToolDefinition> => {
    const definitions = readDefinitions(executor);
    if (isSame(definitions, from)) return shown;
    from = definitions;
    const chosen = definitions.filter(
      (tool) => (names?.has(tool.name) ?? !hidden.includes(tool.name)) && (!readOnly || isReadOnly(tool)),
    );
    shown = new Map(chosen.map((tool) => [tool.name, tool]));
    byName = new Map();
    return shown;
  };
  return {
    all: () => [...current().values()].map(toMcpTool),
    find(name) {
      const definition = current().get(name);
      const known = byName.get(name);
      if (known !== undefined || definition === undefined) return known;
      const tool = toMcpTool(definition);
      byName.set(name, tool);
      return tool;
    },
  };
}

function isSame(some: readonly ToolDefinition[], others: readonly ToolDefinition[]): boolean {
  return some.length === others.length && some.every((definition, index) => definition === others[index]);
}

function requireKnown(
  definitions: readonly ToolDefinition[],
  names: ReadonlySet<string>,
  readOnly: boolean,
): void {
  for (const name of names) {
    const found = definitions.find((tool) => tool.name === name);
    if (found === undefined) {
      const known = definitions.map((tool) => tool.name).join(', ');
      throw new ToolError('unknown_tool', `Cannot serve "${name}": there is no such tool. Known: ${known}.`);
    }
    if (readOnly && !isReadOnly(found)) {
      const message = `Cannot serve "${name}" read-only: it may change things. Leave it out, or serve without read-only.`;
      throw new ToolError('config_invalid', message);
    }
  }
}

/** A tool that does not declare its kinds of effects may change anything. */
function isReadOnly({ annotations }: ToolDefinition): boolean {
  return annotations?.readOnlyHint === true;
}

function toMcpTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolDefinition): Tool {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    // Arguments are always an object, even if a schema does not say so: the protocol requires the statement.
    inputSchema: { ...copyOf(inputSchema), type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema: copyOf(outputSchema) }),
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  };
}

/**
 * Our schemas are frozen, and the SDK writes into the objects that it sends. They are JSON, so copying them as text is
 * fastest.
 */
function copyOf(schema: JsonSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema));
}
