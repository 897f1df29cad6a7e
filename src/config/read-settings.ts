import { parse, TomlError } from 'smol-toml';
import { nearestName } from '../base/nearest-name.js';
import { showKey, showPath } from '../base/show-setting.js';
import { CONFIG_KEYS } from './config-keys.js';
import {
  type ConfigProblem,
  configInvalid,
  createPlaceFinder,
  type KeyPath,
  type TextPlace,
} from './config-problem.js';

/** One key that a file names. */
export interface FileSetting {
  /** Of `CONFIG_KEYS`. */
  readonly key: string;
  /** As in the file; one that the key accepts. */
  readonly value: unknown;
  /** Looked up when it is asked for; of a part of the value, where a path into it is given. */
  readonly place: (at?: KeyPath) => TextPlace;
}

/**
 * What the text of a configuration sets. What is not understood is refused, never passed over: a misspelt limit would
 * limit nothing.
 * @param file for messages.
 * @throws ToolError `config_invalid` with file, line and column of the first problem; all are in `details.problems`.
 */
export function readSettings(text: string, file: string): FileSetting[] {
  const document = text.replace(/^\ufeff/, '');
  const entries = entriesOf(parseToml(document, file), []);
  const placeOf = createPlaceFinder(document);
  const problems = entries.flatMap((entry) => problemsOf(entry));
  if (problems.length > 0) throw configInvalid(inOrder(problems, file, placeOf));
  return entries.map(({ path, value }) => ({
    key: path.join('.'),
    value,
    place: (at = []) => placeOf([...path, ...at]),
  }));
}

function parseToml(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { unsafeKeyBehaviour: 'throw' });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [told = 'it is no TOML'] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const { line, column } = error;
    throw configInvalid([
      { ...sourceOf(file), place: { line, column }, message: () => `${told.replace(/\.$/, '')}.` },
    ]);
  }
}

interface Entry {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Values by their full names. An empty table says nothing, but its name must be known all the same. */
function entriesOf(table: Readonly<Record<string, unknown>>, above: readonly string[]): Entry[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    const isRead = isTable(value) && !isKey(path) && isSection(path);
    return isRead ? entriesOf(value, path) : [{ path, value }];
  });
}

// A quoted name may hold a dot: `"tools.mode"` is another key than `tools.mode`.
function isKey(path: readonly string[]): boolean {
  return Object.hasOwn(CONFIG_KEYS, path.join('.')) && path.every((name) => !name.includes('.'));
}

const SECTIONS: ReadonlySet<string> = new Set(
  Object.keys(CONFIG_KEYS).flatMap((key) => {
    const names = key.split('.');
    return names.slice(1).map((_, index) => names.slice(0, index + 1).join('.'));
  }),
);

function isSection(path: readonly string[]): boolean {
  return SECTIONS.has(path.join('.')) && path.every((name) => !name.includes('.'));
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

interface Problem {
  readonly path: KeyPath;
  readonly message: () => string;
}

function problemsOf({ path, value }: Entry): Problem[] {
  if (!isKey(path)) return [{ path, message: () => unknownKey(path, value) }];
  const key = path.join('.');
  const flaws = CONFIG_KEYS[key]?.kind.flaws(value) ?? [];
  return flaws.map(({ at, problem }) => ({ path: [...path, ...at], message: () => `${key}${problem}` }));
}

function unknownKey(path: readonly string[], value: unknown): string {
  const shown = showKey(path);
  if (isSection(path)) return `${shown} must be a section: write [${shown}].`;
  const asSection = isTable(value);
  const unquoted = path.join('.');
  if (Object.hasOwn(CONFIG_KEYS, unquoted))
    return `${shown} is not known. Write ${unquoted}, without quotes.`;
  const bracketed = (name: string): string => (asSection ? `[${name}]` : name);
  // Longer names are no slips of these.
  const known = asSection ? [...SECTIONS] : Object.keys(CONFIG_KEYS);
  const other = asSection ? OTHER_NAMES.get(path.at(-1) ?? '') : undefined;
  const nearest =
    shown.length > 100 ? undefined : (other ?? nearestName(unquoted, known) ?? inOtherSection(path, known));
  const remedy = nearest === undefined ? 'Remove it.' : `Did you mean ${bracketed(nearest)}?`;
  return `${bracketed(shown)} is not known. ${remedy}`;
}

/** What people call a section whose name is no slip of it. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...['policy', 'policies', 'permissions', 'approvals', 'rules'].map(
    (name) => [name, 'tools.approval'] as const,
  ),
  ...['env', 'variables'].map((name) => [name, 'tools.environment'] as const),
]);

/** The only key of another section whose own name was most likely meant. */
function inOtherSection(path: readonly string[], known: readonly string[]): string | undefined {
  const nearest = nearestName(path.at(-1) ?? '', new Set(known.map(lastName)));
  // The name itself is no slip of its own: it only stands in the wrong section.
  const meant = known.some((key) => lastName(key) === path.at(-1)) ? path.at(-1) : nearest;
  const found = known.filter((key) => lastName(key) === meant);
  return found.length === 1 ? found[0] : undefined;
}

function lastName(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** As they stand in the text, where a table may be in pieces. */
function inOrder(
  problems: readonly Problem[],
  file: string,
  placeOf: (path: KeyPath) => TextPlace,
): ConfigProblem[] {
  return problems
    .map(({ path, message }) => ({ ...sourceOf(file), place: placeOf(path), message }))
    .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
}

function sourceOf(file: string): Pick<ConfigProblem, 'noun' | 'source'> {
  return { noun: 'the configuration', source: showPath(file) };
}
