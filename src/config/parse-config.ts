import { parse, TomlError } from 'smol-toml';
import { nearestName } from '../base/nearest-name.js';
import { ToolError } from '../errors/tool-error.js';
import { CONFIG_KEYS } from './config-keys.js';
import type { Configuration } from './configuration.js';

export interface ConfigPlace {
  /** For messages. */
  readonly file: string;
  /** Absolute: what relative paths start from. */
  readonly directory: string;
}

/**
 * Options from the text of a configuration. What is not understood is refused, never passed over: a misspelt limit
 * would limit nothing.
 * @throws ToolError `config_invalid` with file, line and column of a slip in the TOML, or the key's full name.
 */
export function parseConfig(text: string, place: ConfigPlace): Configuration {
  const configuration: OptionTree = { executor: {}, run: {} };
  for (const { key, value } of leaves(parseToml(text, place), '')) {
    const known = Object.hasOwn(CONFIG_KEYS, key) ? CONFIG_KEYS[key] : undefined;
    if (known === undefined) throw unknownKey(key, value, place);
    const { kind, option } = known;
    if (!kind.accepts(value)) {
      throw invalid(place, `${key} must be ${kind.expected}, not ${show(value)}.`);
    }
    setOption(configuration, option.split('.'), kind.toOption(value, place.directory));
  }
  // Every key's kind makes what its option takes: the table is the parse boundary.
  return configuration as unknown as Configuration;
}

function parseToml(text: string, place: ConfigPlace): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem = 'it is no TOML'] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw invalid(`${place.file}:${error.line}:${error.column}`, `${problem}.`);
  }
}

interface Leaf {
  readonly key: string;
  readonly value: unknown;
}

/** Values by their full names. An empty table says nothing, but its name must be known all the same. */
function leaves(table: Readonly<Record<string, unknown>>, prefix: string): Leaf[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (!isTable(value) || Object.hasOwn(CONFIG_KEYS, key)) return [{ key, value }];
    return isSection(key) ? leaves(value, key) : [{ key, value }];
  });
}

function isSection(key: string): boolean {
  return Object.keys(CONFIG_KEYS).some((known) => known.startsWith(`${key}.`));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function unknownKey(key: string, value: unknown, place: ConfigPlace): ToolError {
  if (isSection(key)) return invalid(place, `${key} must be a section: write [${key}].`);
  const written = isTable(value) ? `[${key}]` : key;
  const nearest = nearestName(key, isTable(value) ? sections() : Object.keys(CONFIG_KEYS));
  if (nearest === undefined) return invalid(place, `${written} is not known. Remove it.`);
  return invalid(
    place,
    `${written} is not known. Did you mean ${isTable(value) ? `[${nearest}]` : nearest}?`,
  );
}

function sections(): Iterable<string> {
  return new Set(Object.keys(CONFIG_KEYS).map((key) => key.slice(0, key.lastIndexOf('.'))));
}

interface OptionTree {
  [name: string]: unknown;
}

function setOption(tree: OptionTree, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    tree[name] = value;
    return;
  }
  const inner: OptionTree = { ...(tree[name] as OptionTree | undefined) };
  setOption(inner, rest, value);
  tree[name] = inner;
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function invalid(place: ConfigPlace | string, problem: string): ToolError {
  const file = typeof place === 'string' ? place : place.file;
  return new ToolError('config_invalid', `Cannot use the configuration ${file}: ${problem}`);
}
