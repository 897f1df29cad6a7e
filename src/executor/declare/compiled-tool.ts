import type { JsonSchema } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import type { Checker, CheckResult } from '../../schema/checker.js';
import { compileInput, compileOutput } from '../../schema/compile-schema.js';
import { takeReadyMade } from '../../schema/json-validator.js';

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
    this.#input ??= this.#compileInput();
    return this.#input;
  }

  #compileInput(): Checker {
    const checker = compileInput(this.#tool.input, this.#tool.name, { when: this.#when });
    return this.#when === 'now' ? checker : new LoadingChecker(checker, loads.get(this.#tool));
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

/**
 * For our own tools. Their validators are ready made; and whoever asks such a tool what its arguments would do has them
 * checked before: by then it has loaded what tells.
 */
class LoadingChecker implements Checker {
  readonly #checker: Checker;
  readonly #load: (() => Promise<void>) | undefined;
  #isLoaded = false;

  constructor(checker: Checker, load: (() => Promise<void>) | undefined) {
    this.#checker = checker;
    this.#load = load;
  }

  get jsonSchema(): JsonSchema {
    return this.#checker.jsonSchema;
  }

  check(value: unknown): CheckResult | Promise<CheckResult> {
    return this.#isLoaded ? this.#checker.check(value) : this.#checkFirst(value);
  }

  async #checkFirst(value: unknown): Promise<CheckResult> {
    const { READY_MADE } = await import('../../schema/ready-made.js');
    takeReadyMade(READY_MADE);
    await this.#load?.();
    this.#isLoaded = true;
    return this.#checker.check(value);
  }
}

const compiled = new WeakMap<Tool, CompiledTool>();
const lazy = new WeakSet<Tool>();
const loads = new WeakMap<Tool, () => Promise<void>>();

/**
 * For our own tools: their schemas are tested, so compiling waits for the first call (F028).
 * @param load what the tool needs to tell what its arguments would do.
 */
export function compileOnFirstUse(tool: Tool, load?: () => Promise<void>): void {
  lazy.add(tool);
  if (load !== undefined) loads.set(tool, load);
}

export function compiledTool(tool: Tool): CompiledTool {
  let found = compiled.get(tool);
  if (found === undefined) {
    found = new CompiledTool(tool, lazy.has(tool) ? 'first_use' : 'now');
    compiled.set(tool, found);
  }
  return found;
}
