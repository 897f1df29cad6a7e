import type { JsonSchema } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import type { Checker } from '../../schema/checker.js';
import { compileInput, compileOutput } from '../../schema/compile-schema.js';

/** A tool's schemas, compiled at most once each, when the first call needs them. */
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

  /** Undefined: the tool promises nothing about structured output. */
  get output(): Checker | undefined {
    if (this.#tool.output === undefined) return undefined;
    this.#output ??= compileOutput(this.#tool.output, this.#tool.name, FIRST_USE);
    return this.#output;
  }

  /**
   * `whole`: finds out too whether the schemas can be compiled.
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

/** For our own tools: their schemas are tested, so compiling waits for the first call (F028). */
export function compileOnFirstUse(tool: Tool): void {
  lazy.add(tool);
}

export function compiledTool(tool: Tool): CompiledTool {
  let found = compiled.get(tool);
  if (found === undefined) {
    found = new CompiledTool(tool);
    compiled.set(tool, found);
  }
  return found;
}
