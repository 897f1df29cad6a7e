import { checkJsonText } from './check-json-text.js';

export interface JsonLimits {
  /** Objects and arrays inside each other; default 64. */
  readonly maxDepth?: number;
  /** Object members and array elements in the whole text; default 100,000. */
  readonly maxValues?: number;
  /**
   * Numbers that a double cannot hold, halves of characters and the key `__proto__` are no error: the caller keeps the
   * text. Default false.
   */
  readonly keepsText?: boolean;
}

/**
 * Reads JSON as RFC 8259 means it and refuses what `JSON.parse` lets through: keys given twice (also when only
 * their spelling differs), `__proto__`, deep nesting, numbers that a double cannot hold, lone surrogates, huge
 * counts. One linear pass over the text, then `JSON.parse` builds the value; neither recurses (A025).
 * @throws JsonTextError with position, line and column.
 */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { maxDepth = 64, maxValues = 100_000, keepsText = false } = limits;
  checkJsonText(text, { maxDepth, maxValues, keepsText });
  return JSON.parse(text);
}
