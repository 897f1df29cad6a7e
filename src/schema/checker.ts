import type { JsonSchema } from '../contract/json.js';

/** One thing to repair. */
export interface CheckIssue {
  /** JSON Pointer of the value at fault; for a missing property the place where it should be. */
  readonly path: string;
  readonly message: string;
}

export type CheckResult =
  /** `value` is what the tool is given: the very value that was checked, or what a Standard Schema made of it. */
  | { readonly ok: true; readonly value: unknown }
  /** `message` is for the model: every fault with its path, what was expected, what came, at most 1,500 characters. */
  | { readonly ok: false; readonly message: string; readonly issues: readonly CheckIssue[] };

/** Checks values against one schema. Answers at once unless the schema itself is asynchronous. */
export interface Checker {
  check(value: unknown): CheckResult | Promise<CheckResult>;
  /** What a model is shown; a frozen copy, the same object every time. */
  readonly jsonSchema: JsonSchema;
}
