import { checkJsonText } from './check-json-text.js';

export interface JsonLimits {
  /** Nesting of objects and arrays; default 64. */
  readonly maxDepth?: number;
  /** Object members and array elements in the whole text; default 100,000. */
  readonly maxValues?: number;
  /**
   * For callers that keep the text: numbers that a double cannot hold, lone surrogates and the key
   * `__proto__` are accepted. Default false.
   */
  readonly keepsText?: boolean;
}

/**
 * Parses JSON by RFC 8259 and rejects texts that `JSON.parse` accepts: duplicate keys (also with different
 * escapes), `__proto__`, deep nesting, numbers that a double cannot hold, lone surrogates, huge counts. One
 * linear pass checks the text, then `JSON.parse` builds the value; neither recurses (A025).
 * @throws JsonTextError with position, line and column.
 */
export function parseJson(text: string, limits: JsonLimits = {}): unknown {
  const { maxDepth = 64, maxValues = 100_000, keepsText = false } = limits;
  checkJsonText(text, { maxDepth, maxValues, keepsText });
  return JSON.parse(text);
}
