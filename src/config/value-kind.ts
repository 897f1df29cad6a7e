import { join, resolve } from 'node:path';
import { parse } from 'smol-toml';
import { parseUrl } from '../base/parse-url.js';
import { showValue } from '../base/show-setting.js';
import type { JsonSchema } from '../contract/json.js';
import { isToolError } from '../errors/tool-error.js';
import { compilePattern } from '../files/compile-pattern.js';
import { redactionFlaw } from '../journal/redaction/redaction-rules.js';
import { isNarrowHostPattern } from '../patterns/host.js';
import { homeDirectory } from '../platform/runtime/environment.js';
import type { Flaw } from '../schema/definition-flaws.js';

/** The values of a configuration key, and their form as an option. */
export interface ValueKind {
  /** For the documentation: `a whole number of bytes from 1`. */
  readonly expected: string;
  readonly schema: JsonSchema;
  /** Empty: the value is accepted. */
  flaws(value: unknown): readonly Flaw[];
  /** @param directory the start of the file's relative paths. */
  toOption(value: unknown, directory: string): unknown;
  /** The value for people, if it may hold a secret. */
  shown?(value: unknown): unknown;
  /** Parses an environment variable; the result may have flaws. If absent: no variable sets the key. */
  fromText?(text: string): unknown;
}

/** A kind that variables can set. */
interface TextKind extends ValueKind {
  fromText(text: string): unknown;
}

export const BOOLEAN: ValueKind = {
  expected: 'true or false',
  schema: { type: 'boolean' },
  flaws: (value) => unless(typeof value === 'boolean', 'true or false', value),
  toOption: asItIs,
  fromText: (text) => TRUTHS.get(text) ?? text,
};

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function wholeNumber(least: number, unit: string): TextKind {
  const expected = `a whole number of ${unit} from ${least}`;
  return {
    expected,
    schema: { type: 'integer', minimum: least, maximum: Number.MAX_SAFE_INTEGER },
    flaws: (value) => unless(Number.isSafeInteger(value) && Number(value) >= least, expected, value),
    toOption: asItIs,
    fromText: toNumber,
  };
}

/** The limit of a timer: 24 days. */
const MAX_SECONDS = 2_147_483;
const SECONDS_EXPECTED = `a number of seconds from 0.001 to ${MAX_SECONDS}`;

/** Seconds in the file, whole milliseconds as an option. */
export const SECONDS: ValueKind = {
  expected: SECONDS_EXPECTED,
  schema: { type: 'number', minimum: 0.001, maximum: MAX_SECONDS },
  flaws: (value) =>
    unless(typeof value === 'number' && value >= 0.001 && value <= MAX_SECONDS, SECONDS_EXPECTED, value),
  toOption: (value) => Math.round(Number(value) * 1000),
  fromText: toNumber,
};

function toNumber(text: string): unknown {
  return /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
}

export function choice(...choices: readonly string[]): ValueKind {
  const expected = `one of ${choices.map((value) => `"${value}"`).join(', ')}`;
  return {
    expected,
    schema: { type: 'string', enum: choices },
    flaws: (value) =>
      unless(
        choices.some((known) => known === value),
        expected,
        value,
      ),
    toOption: asItIs,
    fromText: asItIs,
  };
}

/** Possible tool names: an impossible one would guard nothing. */
export const TOOL_NAMES: ValueKind = textList({
  expected: 'a list of names of tools (letters, digits, _ and -; at most 64), each in quotes',
  accepts: (text) => /^[A-Za-z0-9_-]{1,64}$/.test(text),
  schema: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
});

export const VARIABLES: ValueKind = textList({
  expected: 'a list of names of variables, each in quotes',
  accepts: (text) => !/[=\0]/.test(text),
  schema: { pattern: '^[^=\\u0000]+$' },
});

export const VARIABLE: ValueKind = {
  expected: 'the name of a variable',
  schema: { type: 'string', pattern: '^[^=\\u0000]+$' },
  flaws: (value) =>
    unless(typeof value === 'string' && /^[^=\0]+$/.test(value), 'the name of a variable', value),
  toOption: asItIs,
  fromText: asItIs,
};

/** Hosts, or those below one; not every host. */
export const HOSTS: ValueKind = textList({
  expected: 'a list of hosts such as "127.0.0.1:8080" or "*.corp.example", each in quotes',
  accepts: isNarrowHostPattern,
  schema: {},
});

export const HTTP_ADDRESS: ValueKind = {
  expected: 'an http or https address',
  schema: { type: 'string', pattern: '^https?://' },
  flaws: (value) =>
    unless(
      typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
      'an http or https address',
      value,
    ),
  toOption: asItIs,
  fromText: asItIs,
};

/** Globs that the sandbox supports. */
export const PATTERNS: ValueKind = textList({
  expected: 'a list of complete patterns, each in quotes',
  accepts: isPattern,
  schema: {},
});

const REDACTION_LIST = textList({
  expected: 'a list of patterns such as "bash/command" or "/password", each in quotes',
  accepts: (text) => redactionFlaw(text) === undefined,
  schema: { pattern: '/' },
});

/** The arguments that the journal omits. */
export const REDACTIONS: ValueKind = {
  expected: `true, false or ${REDACTION_LIST.expected}`,
  schema: { anyOf: [BOOLEAN.schema, REDACTION_LIST.schema] },
  flaws(value) {
    if (typeof value === 'boolean') return [];
    const wrong = Array.isArray(value) ? value.find((item) => redactionFlaw(item) !== undefined) : undefined;
    const why =
      typeof wrong === 'string' && wrong !== '' ? ` ${showValue(wrong)}: ${redactionFlaw(wrong)}.` : '';
    return REDACTION_LIST.flaws(value).map((flaw) => ({ ...flaw, problem: `${flaw.problem}${why}` }));
  },
  toOption: asItIs,
  fromText: (text) => TRUTHS.get(text) ?? REDACTION_LIST.fromText(text),
};

/** Directories; relative ones start at the file's own directory. */
export const DIRECTORIES: ValueKind = {
  ...textList({
    expected: 'a list of at least one directory, each in quotes',
    accepts: (text) => !text.includes('\0'),
    schema: {},
    least: 1,
  }),
  toOption: (value, directory) => textsOf(value).map((path) => resolve(directory, path)),
};

/** The same, possibly empty. */
export const PATHS: ValueKind = {
  ...textList({
    expected: 'a list of directories, each in quotes',
    accepts: (text) => !text.includes('\0'),
    schema: {},
  }),
  toOption: (value, directory) => textsOf(value).map((path) => resolve(directory, path)),
};

/** The same, with `~` for the user's home. */
export const PROGRAM_DIRECTORIES: ValueKind = {
  ...PATHS,
  toOption: (value, directory) => textsOf(value).map((path) => resolve(directory, expandHome(path))),
};

function expandHome(path: string): string {
  if (path === '~') return homeDirectory();
  return path.startsWith('~/') ? join(homeDirectory(), path.slice(2)) : path;
}

function isPattern(text: string): boolean {
  try {
    return compilePattern(text, 'patterns').length > 0;
  } catch (error) {
    if (isToolError(error)) return false;
    throw error;
  }
}

interface TextListRules {
  readonly expected: string;
  readonly accepts: (text: string) => boolean;
  /** For an item, besides being a non-empty text. */
  readonly schema: JsonSchema;
  readonly least?: number;
}

export function textList({ expected, accepts, schema, least = 0 }: TextListRules): TextKind {
  return {
    expected,
    schema: { type: 'array', items: { type: 'string', minLength: 1, ...schema }, minItems: least },
    flaws: (value) => {
      if (!Array.isArray(value) || value.length < least) return [mustBe(expected, value)];
      // An empty entry guards nothing and grants nothing, so it is a mistake.
      const wrong = value.findIndex((item) => typeof item !== 'string' || item === '' || !accepts(item));
      if (wrong === -1) return [];
      return [mustBe(expected, value.length > 1 ? value[wrong] : value, [wrong])];
    },
    toOption: asItIs,
    fromText: toTexts,
  };
}

/** `a, b`; or a TOML list, for texts with a comma. */
function toTexts(text: string): unknown {
  if (text.startsWith('[')) return readTomlList(text);
  return text.split(',').map((part) => part.trim());
}

/** A TOML list; otherwise the text itself. */
export function readTomlList(text: string): unknown {
  try {
    const { list, ...others } = parse(`list = ${text}`, { unsafeKeyBehaviour: 'throw' });
    return Array.isArray(list) && Object.keys(others).length === 0 ? list : text;
  } catch {
    return text;
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function unless(accepted: boolean, expected: string, value: unknown): readonly Flaw[] {
  return accepted ? [] : [mustBe(expected, value)];
}

export function mustBe(expected: string, value: unknown, at: Flaw['at'] = []): Flaw {
  return { at, problem: ` must be ${expected}, not ${showValue(value)}.` };
}

function asItIs(value: unknown): unknown {
  return value;
}
