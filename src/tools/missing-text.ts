import type { JsonObject } from '../contract/json.js';

interface TextInput {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, unknown>>;
}

/**
 * `missing or invalid 'path' parameter`: the wording of earlier programs with these tools, which prompts and scripts
 * search for. Undefined for other faults, and if there is an unknown name as well, because the schema's message
 * recognises misspellings.
 */
export function missingText({ required, properties }: TextInput): (args: JsonObject) => string | undefined {
  return (args) => {
    const isKnown = Object.keys(args).every((name) => Object.hasOwn(properties, name));
    const given = required.filter((name) => Object.hasOwn(args, name));
    if (!isKnown || !given.every((name) => typeof args[name] === 'string')) return undefined;
    const missing = required.filter((name) => !given.includes(name));
    if (missing.length === 0) return undefined;
    return `${missing.map((name) => `missing or invalid '${name}' parameter`).join(', ')}: give a string.`;
  };
}
