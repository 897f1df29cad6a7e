import type { JsonSchema } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import type { Checker } from '../../schema/checker.js';
import { compileInput, compileOutput } from '../../schema/compile-schema.js';

/** A tool's schemas, compiled at most once each. */
export class CompiledTool {
  readonly #tool: Tool;
  readonly #when: 'now' | 'first_use';
  #input: Checker | undefined;
  #output: Checker | undefined;

  constructor(tool: Tool, when: 'now' | 'first_use') {
    this.#tool = tool;
    this.#when = when;
  }

  get input(): Checker {
    this.#input ??= compileInput(this.#tool.input, this.#tool.name, { when: this.#when });
    return this.#input;
  }

  /** Undefined: the tool promises nothing about structured output. */
  get output(): Checker | undefined {
    if (this.#tool.output === undefined) return undefined;
    this.#output ??= compileOutput(this.#tool.output, this.#tool.name, { when: this.#when });
    return this.#output;
  }

  /** @throws ToolError `config_invalid` when a schema cannot be compiled. */
  compile(): void {
    if (this.#when === 'first_use') return;
    void this.input;
    void this.output;
  }

  inputSchema(): JsonSchema {
    return this.input.jsonSchema;
  }
}

const compiled = new WeakMap<Tool, CompiledTool>();
const lazy = new WeakSet<Tool>();

/** For our own tools: their schemas are tested, so compiling waits for the first call (F028). */
export function compileOnFirstUse(tool: Tool): void {
  lazy.add(tool);
}

export function compiledTool(tool: Tool): CompiledTool {
  let found = compiled.get(tool);
  if (found === undefined) {
    found = new CompiledTool(tool, lazy.has(tool) ? 'first_use' : 'now');
    compiled.set(tool, found);
  }
  return found;
}
