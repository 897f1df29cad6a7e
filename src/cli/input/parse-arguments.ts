import { JsonTextError } from '../../base/json-text-error.js';
import { parseJson } from '../../base/parse-json.js';
import type { JsonObject } from '../../contract/json.js';
import { UsageError } from '../usage-error.js';

/** A tool's arguments, as a person writes them. @throws UsageError for anything but a JSON object */
export function parseArguments(text: string): JsonObject {
  const value = parse(text);
  if (isObject(value)) return value;
  throw new UsageError(
    `Cannot read the arguments: a JSON object was expected, such as {"path":"README.md"}.`,
  );
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new UsageError(`Cannot read the arguments: ${error.detail} Send a JSON object.`, { cause: error });
  }
}

// Parsed from JSON just before, so an object holds nothing but JSON.
function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
