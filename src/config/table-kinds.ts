import type { JsonSchema } from '../contract/json.js';
import type { ToolDefinition } from '../contract/tool.js';
import { isToolError } from '../errors/tool-error.js';
import { EVENT_TRAITS, groupFlaws, type HookEvent } from '../hooks/hook-options.js';
import { checkRule } from '../policy/rules/compile-rule.js';
import { ruleSchema } from '../policy/rules/rule-fields.js';
import type { Flaw } from '../schema/definition-flaws.js';
import { definitionFlaws } from '../schema/definition-flaws.js';
import { mustBe, readTomlList, type ValueKind } from './value-kind.js';

/** `[[tools.approval.rules]]`: rules of a person or a project. */
export const RULES: ValueKind = {
  expected: 'tables with a `decision` and what it is about (see policy.md)',
  schema: { type: 'array', items: ruleSchema() },
  flaws: ruleFlaws,
  // The parser's tables have no prototype; programs expect plain objects.
  toOption: (value) => JSON.parse(JSON.stringify(value)),
};

function ruleFlaws(value: unknown): readonly Flaw[] {
  if (!Array.isArray(value)) return [mustBe('a list of rules: write [[tools.approval.rules]]', value)];
  return value.flatMap((rule: unknown, index) => flawOf(rule, index));
}

function flawOf(rule: unknown, index: number): readonly Flaw[] {
  const place = `[${index}]`;
  // The location of a file determines the origin of its rules.
  if (typeof rule === 'object' && rule !== null && Object.hasOwn(rule, 'origin')) {
    return [{ at: [index, 'origin'], problem: `${place}.origin is not for files. Remove it.` }];
  }
  try {
    checkRule(rule, place);
    return [];
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    const problem = error.message.replace(/^Policy /, '');
    const field = /^\[\d+\]\.([a-z_]+)/.exec(problem)?.[1];
    return [{ at: field === undefined ? [index] : [index, field], problem }];
  }
}

/** `[[hooks.PreToolUse]]`: groups as in `settings.json`. */
export function hookGroups(event: HookEvent): ValueKind {
  const named = EVENT_TRAITS[event].matches;
  const matcher = { type: 'string', description: `Names of ${named}; left out: all.` } as const;
  return {
    expected: named === 'nothing' ? 'groups with `hooks`' : 'groups with a `matcher` and `hooks`',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['hooks'],
        properties: {
          matcher: named === 'nothing' ? { enum: ['', '*'] } : matcher,
          sequential: { type: 'boolean', description: 'Accepted; hooks of an event run side by side.' },
          hooks: { type: 'array', minItems: 1, items: HOOK_SCHEMA },
        },
      },
    },
    flaws: (value) => groupFlaws(value, event),
    toOption: (value) => JSON.parse(JSON.stringify(value)),
  };
}

const HOOK_SCHEMA: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['type', 'command'],
  properties: {
    type: { const: 'command' },
    command: { type: 'string', pattern: '\\S' },
    timeout: { type: 'number', exclusiveMinimum: 0 },
    on_failure: { enum: ['refuse', 'continue'] },
    name: { type: 'string' },
    description: { type: 'string' },
  },
};

/** `[[tools.definitions]]` (D114): the definitions for a model in mode `parse_only`. */
export const DEFINITIONS: ValueKind = {
  expected: 'tables with `name`, `description` and `parameters`',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'description', 'parameters'],
      properties: {
        name: {
          type: 'string',
          pattern: '^[A-Za-z0-9_-]{1,64}$',
          description: 'The name that the model uses for the tool.',
        },
        description: {
          type: 'string',
          pattern: '\\S',
          description: 'The description of the tool, for the model.',
        },
        parameters: {
          type: 'object',
          description: 'A JSON Schema of the arguments, which are an object.',
          required: ['type'],
          properties: {
            type: { const: 'object' },
            properties: { type: 'object' },
            required: { type: 'array', items: { type: 'string' } },
          },
        },
      },
    },
  },
  flaws: (value) => definitionFlaws(value, 'parameters'),
  toOption: (value) => (Array.isArray(value) ? value.map(toDefinition) : []),
  fromText: (text) => (text.startsWith('[') ? readTomlList(text) : text),
};

interface WrittenDefinition extends Omit<ToolDefinition, 'inputSchema'> {
  readonly parameters: ToolDefinition['inputSchema'];
}

function toDefinition({ name, description, parameters }: WrittenDefinition): ToolDefinition {
  // The parser's tables have no prototype; programs expect plain objects.
  return { name, description, inputSchema: JSON.parse(JSON.stringify(parameters)) };
}
