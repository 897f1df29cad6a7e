import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';

/**
 * A tool for every name there can be: what is not on the tape shall be missed there, and not be answered
 * `unknown_tool` as if that was recorded. Its tools take any arguments and touch nothing.
 */
export class TapeRegistry implements Registry {
  readonly revision = 0;
  readonly #tools = new Map<string, Tool>();
  readonly #names: readonly string[];

  constructor(names: Iterable<string>) {
    this.#names = [...new Set(names)].sort();
  }

  find(name: string): Tool {
    const known = this.#tools.get(name);
    if (known !== undefined) return known;
    const tool = toTapeTool(name);
    this.#tools.set(name, tool);
    return tool;
  }

  get(name: string): Tool {
    return this.find(name);
  }

  has(): boolean {
    return true;
  }

  list(): readonly Tool[] {
    return this.#names.map((name) => this.find(name));
  }

  definitions(): readonly ToolDefinition[] {
    return this.#names.map((name) => ({ name, description: 'On a tape.', inputSchema: { type: 'object' } }));
  }

  register({ name }: Tool): void {
    throw new ToolError('duplicate_tool', `Cannot register tool "${name}": a tape answers to every name.`);
  }
}

function toTapeTool(name: string): Tool {
  return Object.freeze({
    name,
    aliases: [],
    description: 'On a tape.',
    input: { type: 'object' },
    category: 'custom',
    timeoutClass: 'default',
    effects: () => [],
    execute: () => {
      throw new ToolError(
        'execution_failed',
        'A tape runs nothing. Give its middleware to the executor too.',
      );
    },
  } satisfies Tool);
}
