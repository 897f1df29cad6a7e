import type { JsonSchema } from '../../contract/json.js';
import { SETTINGS } from '../../contract/settings.js';
import { KIND_NAMES } from '../../effects/effect-kinds.js';
import { isOriginPattern } from '../../patterns/origin.js';
import type { PolicyRule } from './policy-rule.js';

interface RuleField {
  /** Completes the sentence `… must be …`. */
  readonly expected: string;
  /** For the documentation: the condition. */
  readonly meaning: string;
  /** Whether one value is valid; in a list, each item. */
  readonly accepts: (value: unknown) => boolean;
  readonly takesList?: true;
  /** The schema of one value, for editors of configuration files. */
  readonly schema: JsonSchema;
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' && value !== '' && value.length <= 65_536;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isOneOf =
  (...choices: readonly string[]) =>
  (value: unknown): boolean =>
    choices.some((choice) => choice === value);
const isName = (value: unknown): boolean =>
  typeof value === 'string' && /^[A-Za-z0-9_*?-]{1,128}$/.test(value);

const CATEGORIES = ['file', 'execution', 'search', 'web', 'interaction', 'agent', 'external', 'custom'];
const MODES = SETTINGS['executor.policy'].mode.of;
const isExample = (value: unknown): boolean =>
  typeof value === 'string' || (typeof value === 'object' && value !== null && !Array.isArray(value));

function isOriginTable(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length > 0 &&
    entries.every(
      ([pointer, origins]) =>
        /^(?:\/(?:[^~/]|~[01])*)+$/.test(pointer) &&
        [origins].flat().length > 0 &&
        [origins].flat().every(isOriginPattern),
    )
  );
}

const TEXT: JsonSchema = { type: 'string', minLength: 1 };
const FLAG: JsonSchema = { type: 'boolean' };
const EXAMPLE: JsonSchema = { type: ['string', 'object'] };

/** Every field of a rule: the check, its messages and the documentation use this table. */
export const RULE_FIELDS: Readonly<Record<keyof PolicyRule, RuleField>> = Object.freeze({
  decision: {
    schema: { enum: ['allow', 'ask', 'deny'] },
    accepts: isOneOf('allow', 'ask', 'deny'),
    expected: '"allow", "ask" or "deny"',
    meaning: 'The decision about a call, or a part of one, that the rule matches. Required.',
  },
  tool: {
    schema: TEXT,
    accepts: isName,
    takesList: true,
    expected: 'a tool name, or a pattern such as "mcp_*"',
    meaning:
      'One of the names of the tool; a rule about one name holds for all of them. `*` and `?` are wildcards.',
  },
  effect: {
    schema: { enum: [...KIND_NAMES] },
    accepts: isOneOf(...KIND_NAMES),
    takesList: true,
    expected: `one of ${KIND_NAMES.join(', ')}`,
    meaning: `The kind of effect: ${KIND_NAMES.map((kind) => `\`${kind}\``).join(', ')}.`,
  },
  path: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a path pattern',
    meaning: 'A glob over the path of a `read`, `write` or `delete`.',
  },
  command: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a command pattern such as "git status *"',
    meaning: 'A pattern over the words of each simple command of a `run`.',
  },
  contains: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a text',
    meaning: 'A literal text anywhere in the text of a `run`. Not for allowing rules.',
  },
  url: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a host pattern such as "*.example.com"',
    meaning: 'A host pattern over the URL of a `fetch`.',
  },
  args: {
    schema: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^(?:/(?:[^~/]|~[01])*)+$' },
      additionalProperties: {
        anyOf: [
          { type: 'string' },
          { type: 'number' },
          { type: 'boolean' },
          { type: 'array', minItems: 1, items: { type: 'string' } },
          { type: 'array', minItems: 2, maxItems: 2, items: { type: 'number' } },
        ],
      },
    },
    accepts: (value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0,
    expected: 'a table of JSON pointers and what is there, such as { "/repo": "sandbox-*" }',
    meaning:
      'By JSON pointer, the conditions for arguments: a pattern, a list of them, `[min, max]`, a number, `true` or `false`.',
  },
  data_from: {
    schema: TEXT,
    accepts: isOriginPattern,
    takesList: true,
    expected: 'an origin such as "web:*", "mcp:mail", "workspace"',
    meaning:
      'The model has seen data of this origin in the conversation ([provenance.md](provenance.md)). Does not match if the origins are unknown.',
  },
  args_from: {
    schema: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^(?:/(?:[^~/]|~[01])*)+$' },
      additionalProperties: { anyOf: [TEXT, { type: 'array', minItems: 1, items: TEXT }] },
    },
    accepts: isOriginTable,
    expected: 'a table of JSON pointers and origins, such as { "/to" = "web:*" }',
    meaning: 'By JSON pointer, where the text of an argument was found: an origin, or a list of them.',
  },
  category: {
    schema: { enum: CATEGORIES },
    accepts: isOneOf(...CATEGORIES),
    takesList: true,
    expected: `one of ${CATEGORIES.join(', ')}`,
    meaning: 'The category that the tool declares.',
  },
  side_effecting: {
    schema: FLAG,
    accepts: isFlag,
    expected: 'true or false',
    meaning: 'Whether the call does more than read and ask.',
  },
  idempotent: {
    schema: FLAG,
    accepts: isFlag,
    expected: 'true or false',
    meaning: 'Whether the tool declares that a call may run twice.',
  },
  agent: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a name of a sub-agent, or a pattern',
    meaning:
      'The sub-agent that makes the call; `main` is the conversation itself. `*` and `?` are wildcards.',
  },
  mode: {
    schema: { enum: MODES },
    accepts: isOneOf(...MODES),
    takesList: true,
    expected: '"auto", "prompt" or "deny"',
    meaning: 'The rule holds only while the policy is in this mode.',
  },
  write_through: {
    schema: FLAG,
    accepts: isFlag,
    expected: 'true or false',
    meaning:
      'For an allowing rule: a command writes through, without a transaction ([write-through.md](write-through.md)), if such rules allow every part of its call.',
  },
  writes: {
    schema: TEXT,
    accepts: isText,
    takesList: true,
    expected: 'a path pattern',
    meaning:
      'For an allowing rule: the paths that a command may change ([deeds.md](deeds.md)). If absent: every path that does not run later by itself; `[]`: nothing. In a transaction, other changes are asked about when the command has ended.',
  },
  reason: {
    schema: TEXT,
    accepts: isText,
    expected: 'a text',
    meaning: 'Shown with a refusal or a question: the alternative.',
  },
  match: {
    schema: EXAMPLE,
    accepts: isExample,
    takesList: true,
    expected: 'an example (a text or a table)',
    meaning: 'Examples that the rule must match; checked when the policy is created.',
  },
  not_match: {
    schema: EXAMPLE,
    accepts: isExample,
    takesList: true,
    expected: 'an example (a text or a table)',
    meaning: 'Examples that the rule must not match; checked when the policy is created.',
  },
  origin: {
    schema: { type: 'object' },
    accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    expected: '{ tier, file?, line? }',
    meaning: 'The author of the rule and its place; set by the loader.',
  },
});

/** A rule as a JSON Schema, for editors and for the configuration's schema. `origin` is not for files. */
export function ruleSchema(): JsonSchema {
  const fields = Object.entries(RULE_FIELDS).filter(([name]) => name !== 'origin');
  const properties = fields.map(([name, { schema, takesList, meaning }]): [string, JsonSchema] => {
    const described = { description: meaning };
    if (takesList !== true) return [name, { ...schema, ...described }];
    return [name, { anyOf: [schema, { type: 'array', items: schema }], ...described }];
  });
  return {
    type: 'object',
    required: ['decision'],
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}
