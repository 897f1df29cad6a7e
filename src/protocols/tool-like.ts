import type { JsonSchema } from '../contract/json.js';

/** What a model is shown of a tool, as `executor.definitions()` gives it. A `Tool` with a plain JSON Schema will do. */
export interface ToolLike {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  /** Where there is no `inputSchema`: a JSON Schema, or a Standard Schema that gives one. */
  readonly input?: unknown;
}
