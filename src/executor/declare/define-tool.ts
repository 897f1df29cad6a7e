import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../../contract/json.js';
import type { TimeoutClass, Tool, ToolCategory, ToolSpec, TypedTool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import type { FromJsonSchema } from '../../schema/from-json-schema.js';
import { checkSpec, SPEC_KEYS } from './check-spec.js';
import { compileOnFirstUse } from './compiled-tool.js';

/**
 * The type of the arguments that a schema accepts. A spec declared as a `ToolSpec<A>` holds one of two kinds of
 * schema; its `A` counts.
 */
export type ArgsOf<S> = [Extract<S, StandardSchemaV1>] extends [never]
  ? S extends JsonSchema
    ? FromJsonSchema<S>
    : unknown
  : Extract<S, StandardSchemaV1> extends StandardSchemaV1<unknown, infer A>
    ? A
    : unknown;

/** The type of the values that an output schema accepts; unknown if there is no schema. */
export type OutputOf<P> =
  P extends StandardSchemaV1<infer O, unknown> ? O : P extends JsonSchema ? FromJsonSchema<P> : unknown;

/** A spec whose argument and return types come from its schemas. */
export type SpecFor<S extends StandardSchemaV1 | JsonSchema, P = undefined> = Omit<
  ToolSpec<ArgsOf<S>, OutputOf<P>>,
  'input' | 'output'
> & {
  readonly input: S;
  readonly output?: P;
};

/**
 * Declares a tool. The argument type of `execute`, `effects` and the other callbacks is inferred from
 * `input`, and the return type of `execute` is checked against `output`. Callbacks receive frozen arguments,
 * so the call runs exactly as it was planned and approved (D021, D110).
 * @throws ToolError `config_invalid` when the declaration is incomplete or invalid.
 */
export function defineTool<
  const S extends StandardSchemaV1 | JsonSchema,
  const P extends StandardSchemaV1 | JsonSchema | undefined = undefined,
>(spec: SpecFor<S, P>): TypedTool<ArgsOf<S>> {
  // Only here is a tool's argument type erased. From here on, the tool's schema alone guarantees the
  // arguments.
  return completeTool(spec as unknown as ToolSpec<unknown>);
}

/** Like `defineTool`, for toolexec's own tools: their schemas are not compiled when the program starts. */
export function defineOwnTool<A, O = unknown>(spec: ToolSpec<A, O>): Tool {
  const tool = completeTool(spec as unknown as ToolSpec<unknown>);
  compileOnFirstUse(tool);
  return tool;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

const CLASS_OF_CATEGORY: Readonly<Record<ToolCategory, TimeoutClass>> = {
  file: 'files',
  search: 'files',
  execution: 'commands',
  external: 'external',
  web: 'default',
  interaction: 'default',
  agent: 'default',
  custom: 'default',
};

function completeTool(spec: ToolSpec<unknown>): Tool {
  if (typeof spec !== 'object' || spec === null) {
    throw new ToolError(
      'config_invalid',
      'Cannot define a tool: an object with name, input and execute is expected.',
    );
  }
  requireName(spec.name);
  const label = `Cannot define tool "${spec.name}"`;
  checkSpec(label, spec);
  const { category = 'custom', aliases = [] } = spec;
  for (const alias of aliases) requireName(alias);
  return Object.freeze({
    ...known(spec),
    name: spec.name,
    description: spec.description,
    input: spec.input,
    execute: spec.execute.bind(spec),
    aliases: Object.freeze([...aliases]),
    ...(spec.touches === undefined ? undefined : { touches: Object.freeze([...spec.touches]) }),
    ...(spec.privateHosts === undefined
      ? undefined
      : { privateHosts: Object.freeze([...spec.privateHosts]) }),
    category,
    timeoutClass: spec.timeoutClass ?? CLASS_OF_CATEGORY[category],
  });
}

/** Copies the members of a spec, including methods that a class instance inherits. */
function known(spec: ToolSpec<unknown>): Partial<ToolSpec<unknown>> {
  const parts: Record<string, unknown> = {};
  for (const key of SPEC_KEYS) {
    const value: unknown = Reflect.get(spec, key);
    if (value === undefined) continue;
    const isCallback = typeof value === 'function' && key !== 'input' && key !== 'output';
    parts[key] = isCallback ? value.bind(spec) : value;
  }
  return parts;
}

function requireName(name: unknown): void {
  if (typeof name === 'string' && NAME.test(name)) return;
  throw new ToolError(
    'config_invalid',
    `Cannot define tool ${showName(name)}: a name is 1 to 64 letters, digits, "_" and "-".`,
  );
}

function showName(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : `of type ${typeof name}`;
}
