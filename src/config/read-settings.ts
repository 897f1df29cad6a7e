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

/** One key in a file. */
export interface FileSetting {
  /** A key of `CONFIG_KEYS`. */
  readonly key: string;
  /** In the file's notation; a valid value of the key. */
  readonly value: unknown;
  /** Computed on demand; for a part of the value, given its path. */
  readonly place: (at?: KeyPath) => TextPlace;
}

/**
 * Parses the settings of a configuration text. Unknown entries are errors, because a misspelled limit would
 * limit nothing.
 * @param file for messages.
 * @throws ToolError `config_invalid` with file, line and column of the first problem; all are in
 * `details.problems`.
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
    const [told = 'it is not TOML'] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
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

/** Values by their full names. An empty table sets nothing, but its name must be known. */
function entriesOf(table: Readonly<Record<string, unknown>>, above: readonly string[]): Entry[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const path = [...above, name];
    const isRead = isTable(value) && !isKey(path) && isSection(path);
    return isRead ? entriesOf(value, path) : [{ path, value }];
  });
}

// A quoted name may contain a dot: `"tools.mode"` differs from `tools.mode`.
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
  // Longer names are not misspellings of these.
  const known = asSection ? [...SECTIONS] : Object.keys(CONFIG_KEYS);
  const other = asSection ? OTHER_NAMES.get(path.at(-1) ?? '') : undefined;
  const nearest =
    shown.length > 100 ? undefined : (other ?? nearestName(unquoted, known) ?? inOtherSection(path, known));
  const remedy = nearest === undefined ? 'Remove it.' : `Did you mean ${bracketed(nearest)}?`;
  return `${bracketed(shown)} is not known. ${remedy}`;
}

/** Common wrong names of sections that are not misspellings. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...['policy', 'policies', 'permissions', 'approvals', 'rules'].map(
    (name) => [name, 'tools.approval'] as const,
  ),
  ...['env', 'variables'].map((name) => [name, 'tools.environment'] as const),
]);

/** The only key of another section that was probably meant. */
function inOtherSection(path: readonly string[], known: readonly string[]): string | undefined {
  const nearest = nearestName(path.at(-1) ?? '', new Set(known.map(lastName)));
  // A correct name in the wrong section is not a misspelling.
  const meant = known.some((key) => lastName(key) === path.at(-1)) ? path.at(-1) : nearest;
  const found = known.filter((key) => lastName(key) === meant);
  return found.length === 1 ? found[0] : undefined;
}

function lastName(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

/** In text order, because a table may be split. */
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
