import { resolve } from 'node:path';
import type { JsonSchema } from '../contract/json.js';

/** What a key of the configuration takes, and what it becomes as an option. */
export interface ValueKind {
  /** Completes the sentence `… must be …`. */
  readonly expected: string;
  readonly schema: JsonSchema;
  accepts(value: unknown): boolean;
  /** @param directory that relative paths of the file start from. */
  toOption(value: unknown, directory: string): unknown;
}

export const BOOLEAN: ValueKind = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  accepts: (value) => typeof value === 'boolean',
  toOption: asItIs,
};

export function wholeNumber(least: number, unit: string): ValueKind {
  return {
    expected: `a whole number of ${unit} from ${least}`,
    schema: { type: 'integer', minimum: least },
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= least,
    toOption: asItIs,
  };
}

/** The longest time that a timer can take: 24 days. */
const MAX_SECONDS = 2_147_483;

/** Seconds in the file, whole milliseconds as an option. */
export const SECONDS: ValueKind = {
  expected: `a number of seconds from 0.001 to ${MAX_SECONDS}`,
  schema: { type: 'number', minimum: 0.001, maximum: MAX_SECONDS },
  accepts: (value) => typeof value === 'number' && value >= 0.001 && value <= MAX_SECONDS,
  toOption: (value) => Math.round(Number(value) * 1000),
};

export function choice(...choices: readonly string[]): ValueKind {
  const quoted = choices.map((value) => `"${value}"`);
  return {
    expected: `one of ${quoted.join(', ')}`,
    schema: { enum: choices },
    accepts: (value) => choices.some((known) => known === value),
    toOption: asItIs,
  };
}

export const NAMES: ValueKind = textList('a list of names, each in quotes', 0);
export const PATTERNS: ValueKind = textList('a list of patterns, each in quotes', 0);

/** Directories; relative ones start from the file's own directory, wherever it is used from. */
export const DIRECTORIES: ValueKind = {
  ...textList('a list of at least one directory, each in quotes', 1),
  toOption: (value, directory) => textsOf(value).map((path) => resolve(directory, path)),
};

function textList(expected: string, least: number): ValueKind {
  return {
    expected,
    schema: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: least },
    accepts: (value) => Array.isArray(value) && value.length >= least && value.every(isText),
    toOption: asItIs,
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

// A pattern, a name or a path that is empty guards nothing and grants nothing: it is a slip.
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function asItIs(value: unknown): unknown {
  return value;
}
