import { delimiter, dirname, isAbsolute } from 'node:path';
import { findCredentials, SHORTEST_SECRET } from '../commands/sanitize-environment.js';
import type { JsonValue } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import { cleanValue } from '../executor/answer/clean-json.js';
import { createExactValues, type ExactValues, redactValues } from '../output/create-redactor.js';
import { entryStat } from '../platform/fs/fs-entry.js';

/**
 * The values that the configuration gives to one server: variables and headers. The server needs them, and may repeat
 * them in any answer. So its texts are shown without them, however the variables are named.
 */
export class GivenValues {
  readonly #values = new Set<string>();
  #exact: ExactValues | undefined;

  /** A value that is not a secret is left out: a path on this machine, or an address, apart from its credentials. */
  add(values: Iterable<string>): void {
    for (const value of values) {
      const secrets = value.includes('://') ? findCredentials(value) : isPath(value) ? [] : [value];
      for (const secret of secrets.filter(({ length }) => length >= SHORTEST_SECRET)) {
        this.#values.add(secret);
        // Most servers answer with JSON as text.
        this.#values.add(JSON.stringify(secret).slice(1, -1));
      }
    }
    this.#exact = undefined;
  }

  /** The value without the values in its texts and names. @throws ToolError `execution_failed` if it is nested too deep */
  hideIn(value: JsonValue): JsonValue {
    if (this.#values.size === 0) return value;
    try {
      return cleanValue(value, this.hide) ?? null;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolError('execution_failed', `The server's result cannot be read: it is ${why}.`);
    }
  }

  /** The text without the values. */
  readonly hide = (text: string): string => {
    if (this.#values.size === 0) return text;
    this.#exact ??= createExactValues([...this.#values]);
    return redactValues(text, this.#exact);
  };
}

/** A path, or several, that exist or could be created. A secret may begin with `/` too. */
function isPath(value: string): boolean {
  return value.split(delimiter).every((path) => isAbsolute(path) && (exists(path) || exists(dirname(path))));
}

function exists(path: string): boolean {
  try {
    return dirname(path) !== path && entryStat(path) !== undefined;
  } catch {
    return false;
  }
}
