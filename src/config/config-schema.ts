import type { JsonSchema } from '../contract/json.js';
import type { ConfigKey } from './config-key.js';
import { CONFIG_KEYS } from './config-keys.js';

/**
 * A JSON Schema (2020-12) of `toolexec.toml` for editors. It accepts what the loader accepts, as far as a
 * schema can express it.
 */
export function configSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'toolexec.toml',
    ...sectionSchema('The configuration of toolexec.', allKeys()),
  };
}

interface KeyBelow {
  readonly path: readonly string[];
  readonly known: ConfigKey;
}

function allKeys(): KeyBelow[] {
  return Object.entries(CONFIG_KEYS).map(([key, known]) => ({ path: key.split('.'), known }));
}

function sectionSchema(description: string, keys: readonly KeyBelow[], section = ''): JsonSchema {
  const names = new Set(keys.map(({ path: [name = ''] }) => name));
  const properties = [...names].map((name) => {
    const full = section === '' ? name : `${section}.${name}`;
    const below = keys.filter(({ path }) => path[0] === name);
    const leaf = below.find(({ path }) => path.length === 1);
    const inner = below.map(({ path, known }) => ({ path: path.slice(1), known }));
    return [name, leaf === undefined ? sectionSchema(`[${full}]`, inner, full) : keySchema(leaf.known)];
  });
  return {
    type: 'object',
    description,
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

function keySchema({ kind, fallback, meaning }: ConfigKey): JsonSchema {
  return { description: meaning, ...kind.schema, ...(fallback === undefined ? {} : { default: fallback }) };
}
