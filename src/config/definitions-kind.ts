import type { ToolDefinition } from '../contract/tool.js';
import { definitionFlaws } from '../schema/definition-flaws.js';
import { readTomlList, type ValueKind } from './value-kind.js';

/** `[[tools.definitions]]` (D114): what a model is shown in mode `parse_only`. */
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
          description: 'What the model calls the tool by.',
        },
        description: {
          type: 'string',
          pattern: '\\S',
          description: 'What the tool does, for the model.',
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
  // The parser's tables have no prototype; plain objects are what programs expect.
  return { name, description, inputSchema: JSON.parse(JSON.stringify(parameters)) };
}
