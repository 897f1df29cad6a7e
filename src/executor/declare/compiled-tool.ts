import type { JsonSchema } from '../../contract/json.js';
import type { Tool, ToolAnnotations } from '../../contract/tool.js';
import { annotationsOf } from '../../effects/effect-kinds.js';
import type { Checker } from '../../schema/checker.js';
import { compileInput, compileOutput } from '../../schema/compile-schema.js';

/** A tool's schemas. Each one is compiled at most once, when the first call needs it. */
export class CompiledTool {
  readonly #tool: Tool;
  #input: Checker | undefined;
  #output: Checker | undefined;

  constructor(tool: Tool) {
    this.#tool = tool;
  }

  get input(): Checker {
    this.#input ??= compileInput(this.#tool.input, this.#tool.name, FIRST_USE);
    return this.#input;
  }

  /** Undefined: the tool declares no schema for structured output. */
  get output(): Checker | undefined {
    if (this.#tool.output === undefined) return undefined;
    this.#output ??= compileOutput(this.#tool.output, this.#tool.name, FIRST_USE);
    return this.#output;
  }

  /**
   * `whole` also checks whether the schemas can be compiled.
   * @throws ToolError `config_invalid` when a schema cannot be used
   */
  check(how: 'whole' | 'plainly'): void {
    if (lazy.has(this.#tool)) return;
    const { input, output } = this;
    if (how === 'plainly') return;
    input.checkNow();
    output?.checkNow();
  }

  inputSchema(): JsonSchema {
    return this.input.jsonSchema;
  }
}

const FIRST_USE = { when: 'first_use' } as const;

const compiled = new WeakMap<Tool, CompiledTool>();
const lazy = new WeakSet<Tool>();

/** Delays compiling until the first call. Used for toolexec's own tools, whose schemas are tested (F028). */
export function compileOnFirstUse(tool: Tool): void {
  lazy.add(tool);
}

const stated = new WeakMap<Tool, ToolAnnotations>();

/**
 * Sets annotations that say more than the tool's effect kinds can, for example for a read-only remote tool of
 * a trusted server.
 */
export function stateAnnotations(tool: Tool, annotations: ToolAnnotations): void {
  stated.set(tool, Object.freeze(annotations));
}

/** Undefined: the tool does not declare which kinds of effects it has. */
export function toolAnnotations(tool: Tool): ToolAnnotations | undefined {
  const { touches, idempotent } = tool;
  if (touches === undefined) return undefined;
  return stated.get(tool) ?? annotationsOf(touches, idempotent === true);
}

export function compiledTool(tool: Tool): CompiledTool {
  let found = compiled.get(tool);
  if (found === undefined) {
    found = new CompiledTool(tool);
    compiled.set(tool, found);
  }
  return found;
}
