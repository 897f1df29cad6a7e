import type { ArgumentPattern, CompiledRule } from './compile-rule.js';

/** A rule with one of its patterns: what is looked up, matched and compared. */
export interface RuleEntry {
  readonly rule: CompiledRule;
  readonly argument: ArgumentPattern | undefined;
  /** By each line of the table of precision. */
  readonly precision: readonly number[];
}
