import { ToolError } from '../errors/tool-error.js';

/** One option: its default, its accepted values, and their description. */
export interface OptionRule<V> {
  readonly fallback: V;
  readonly accepts: (value: unknown) => boolean;
  /** Completes the sentence `<option> must be …`. */
  readonly expected: string;
}

export type OptionRules<T> = { readonly [K in keyof T]-?: OptionRule<T[K]> };

/**
 * Checks options and fills in defaults, once, at the border.
 * @param label the place of the options in messages: `limits`.
 * @throws ToolError `config_invalid` for an unknown option or an invalid value.
 */
export function normalizeOptions<T extends object>(label: string, given: unknown, rules: OptionRules<T>): T {
  const values = valuesIn(label, given, rules);
  const normalized: Partial<T> = {};
  for (const key of Object.keys(rules) as (keyof T & string)[]) {
    const value = acceptedValue(label, key, values, rules);
    normalized[key] = value === undefined ? rules[key].fallback : value;
  }
  return normalized as T;
}

/**
 * Checks options without filling in defaults, for options that come with every call.
 * @throws ToolError `config_invalid` for an unknown option or an invalid value.
 */
export function checkOptions<T extends object>(label: string, given: unknown, rules: OptionRules<T>): void {
  const values = valuesIn(label, given, rules);
  // Every call pays for this check and sets few of the options. An object of a class may inherit other properties.
  const isPlain = Object.getPrototypeOf(values) === Object.prototype;
  for (const key in isPlain ? values : rules) acceptedValue(label, key, values, rules);
}

/**
 * Checks an argument that must be an object of a certain kind, recognised by a method.
 * @param noun completes the sentence `… is expected`
 * @throws ToolError `config_invalid`
 */
export function requireMethod(caller: string, given: unknown, method: string, noun: string): void {
  const hasMethod = isObject(given) && typeof (given as Record<string, unknown>)[method] === 'function';
  requireArgument(caller, given, () => hasMethod, noun);
}

/**
 * Checks an argument of a public function, for callers without types.
 * @param expected completes the sentence `… is expected`
 * @throws ToolError with `code`
 */
export function requireArgument(
  caller: string,
  given: unknown,
  accepts: (value: unknown) => boolean,
  expected: string,
  code: 'config_invalid' | 'bad_args' | 'patch_failed' = 'config_invalid',
): void {
  if (accepts(given)) return;
  throw new ToolError(code, `Cannot call ${caller}: ${expected} is expected, got ${showGiven(given)}.`);
}

type Values<T> = Partial<Record<keyof T, unknown>>;

function valuesIn<T extends object>(label: string, given: unknown, rules: OptionRules<T>): Values<T> {
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new ToolError('config_invalid', `${label} must be an object.`);
  }
  const values = (given ?? {}) as Values<T>;
  for (const key of Object.keys(values)) {
    if (Object.hasOwn(rules, key)) continue;
    const known = Object.keys(rules).join(', ');
    throw new ToolError('config_invalid', `Unknown option ${label}.${key}. Known: ${known}.`);
  }
  return values;
}

function acceptedValue<T extends object, K extends keyof T & string>(
  label: string,
  key: K,
  values: Values<T>,
  rules: OptionRules<T>,
): T[K] | undefined {
  const { accepts, expected } = rules[key];
  const value = values[key];
  if (value !== undefined && !accepts(value)) {
    throw new ToolError('config_invalid', `${label}.${key} must be ${expected}, got ${showGiven(value)}.`);
  }
  // `accepts` has just checked that the value is a T[K].
  return value as T[K] | undefined;
}

export function option<V>(
  fallback: V,
  accepts: (value: unknown) => boolean,
  expected: string,
): OptionRule<V> {
  return { fallback, accepts, expected };
}

/** A row of a table of options: its kind of value and its default. */
interface Described {
  readonly takes: 'whole' | 'time' | 'truth' | 'choice' | 'texts';
  readonly least?: number;
  readonly unit?: string;
  /** The choices, or the noun for a list of texts. */
  readonly of?: string | readonly string[];
  readonly fallback: unknown;
}

/** The rules described by a table of options. `T` is the type derived from the same table. */
export function rulesOf<T extends object>(
  table: Readonly<Record<keyof T & string, Described>>,
): OptionRules<T> {
  const rows = Object.entries<Described>(table);
  return Object.fromEntries(rows.map(([name, row]) => [name, ruleOf(row)])) as unknown as OptionRules<T>;
}

function ruleOf({ takes, least = 1, unit, of = [], fallback }: Described): OptionRule<unknown> {
  switch (takes) {
    case 'whole':
      return option(
        fallback,
        isWhole(least),
        `a whole number ${unit === undefined ? '' : `of ${unit} `}from ${least}`,
      );
    case 'time':
      return option(fallback, isWhole(least), `a whole number of milliseconds from ${least}`);
    case 'truth':
      return option(fallback, isBoolean, 'true or false');
    case 'choice':
      return option(
        fallback,
        (value) => typeof value === 'string' && of.includes(value),
        `one of ${[of].flat().join(', ')}`,
      );
    case 'texts':
      return option(fallback, isTextList, `a list of ${String(of)}`);
  }
}

export const isWhole =
  (least: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= least;

export const isBoolean = (value: unknown): boolean => typeof value === 'boolean';

export const isFunction = (value: unknown): boolean => typeof value === 'function';

export const isFilledText = (value: unknown): boolean => typeof value === 'string' && value !== '';

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** A wrong value for a message. Never throws. */
export function showGiven(value: unknown): string {
  // JSON would write NaN and Infinity as null.
  if (typeof value === 'number') return String(value);
  try {
    return (JSON.stringify(value) ?? typeof value).slice(0, 80);
  } catch {
    return typeof value;
  }
}
