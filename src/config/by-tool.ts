import { parse } from 'smol-toml';
import packages from '../base/large-packages.cjs';
import type { JsonSchema } from '../contract/json.js';
import { LIMITED_LABEL } from '../journal/records/fair-order.js';
import { mustBe, SECONDS, type ValueKind, wholeNumber } from './value-kind.js';

/** The name of a tool. Defined first, because its uses run at load time. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** `[tools.external.versions]`: ranges in npm syntax. */
export const VERSION_RANGES: ValueKind = byTool(
  'a table of version ranges by tool, like { slug = "^1.2" }',
  { type: 'string', minLength: 1 },
  (value) => typeof value === 'string' && value.trim() !== '' && packages.semver().validRange(value) !== null,
);

/** `[tools.external.timeouts]`: seconds in the file, milliseconds as an option. */
export const TOOL_SECONDS: ValueKind = {
  ...byTool('a table of seconds by tool, like { slug = 20 }', SECONDS.schema, accepts(SECONDS)),
  toOption: (value, directory) =>
    Object.fromEntries(entriesOf(value).map(([name, each]) => [name, SECONDS.toOption(each, directory)])),
};

const CALLS = wholeNumber(1, 'calls');
const CALLS_EXPECTED = 'a whole number of calls from 1, or a table of such numbers by tool';
const CALLS_BY_TOOL = byTool(CALLS_EXPECTED, CALLS.schema, accepts(CALLS));

/** Numbers of calls by tool name. */
export const CALLS_OF_TOOLS: ValueKind = byTool(
  'a table of whole numbers of calls from 1 by tool, like { deploy = 1 }',
  CALLS.schema,
  accepts(CALLS),
);

/** Numbers of calls by label. */
export const CALLS_OF_LABELS: ValueKind = byName(
  LIMITED_LABEL,
  'a table of whole numbers of calls from 1 by label, like { gpu = 2 }',
  CALLS.schema,
  accepts(CALLS),
);

/** One number for each tool, or numbers by name. */
export const CALLS_AT_A_TIME: ValueKind = {
  expected: CALLS_EXPECTED,
  schema: { anyOf: [CALLS.schema, CALLS_BY_TOOL.schema] },
  flaws: (value) =>
    isTable(value)
      ? CALLS_BY_TOOL.flaws(value)
      : CALLS.flaws(value).map(({ at }) => mustBe(CALLS_EXPECTED, value, at)),
  toOption: (value, directory) => (isTable(value) ? CALLS_BY_TOOL.toOption(value, directory) : value),
  fromText: (text) => (text.startsWith('{') ? readTable(text) : CALLS.fromText(text)),
};

function byTool(expected: string, schema: JsonSchema, isGood: (value: unknown) => boolean): ValueKind {
  return byName(NAME, expected, schema, isGood);
}

/** A table with a value per name. */
function byName(
  name: RegExp,
  expected: string,
  schema: JsonSchema,
  isGood: (value: unknown) => boolean,
): ValueKind {
  return {
    expected,
    schema: { type: 'object', additionalProperties: schema, propertyNames: { pattern: name.source } },
    flaws: (value) => {
      if (!isTable(value)) return [mustBe(expected, value)];
      return entriesOf(value)
        .filter(([key, each]) => !name.test(key) || !isGood(each))
        .map(([key, each]) => mustBe(expected, each, [key]));
    },
    // The parser's tables have no prototype; programs expect plain objects.
    toOption: (value) => Object.fromEntries(entriesOf(value)),
    fromText: readTable,
  };
}

function accepts({ flaws }: ValueKind): (value: unknown) => boolean {
  return (value) => flaws(value).length === 0;
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function entriesOf(value: unknown): [string, unknown][] {
  return isTable(value) ? Object.entries(value) : [];
}

/** An inline TOML table (`{ slug = "^1.2" }`); otherwise the text itself. */
function readTable(text: string): unknown {
  try {
    const { table, ...others } = parse(`table = ${text}`, { unsafeKeyBehaviour: 'throw' });
    return Object.keys(others).length === 0 ? table : text;
  } catch {
    return text;
  }
}
