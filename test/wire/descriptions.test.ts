import type Anthropic from '@anthropic-ai/sdk';
import type { FunctionDeclaration, Type } from '@google/genai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { builtinTools, createRegistry } from '../../src/index.js';
import { describeTools } from '../../src/protocols.js';

const definition = {
  name: 'search',
  description: 'Finds lines.',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['text', 'mode'],
    properties: {
      text: { type: 'string', minLength: 1 },
      mode: { enum: ['word', 'line'] },
      in: { type: ['string', 'null'], description: 'Where.' },
    },
    additionalProperties: false,
  },
};

const schema = {
  additionalProperties: false,
  properties: {
    in: { description: 'Where.', type: ['string', 'null'] },
    mode: { enum: ['word', 'line'] },
    text: { minLength: 1, type: 'string' },
  },
  required: ['mode', 'text'],
  type: 'object' as const,
};

/** The API accepts the words of JSON Schema; the client's types only have their own list, in capitals. */
type InLowerCase<T> = T extends Type
  ? Lowercase<`${T}`>
  : T extends object
    ? { [K in keyof T]: InLowerCase<T[K]> }
    : T;

describe('describeTools(): the shapes of a request', () => {
  it('anthropic', () => {
    const expected = [
      { name: 'search', description: 'Finds lines.', input_schema: schema },
    ] satisfies Anthropic.Tool[];
    const tools: Anthropic.ToolUnion[] = describeTools('anthropic', [definition]);
    expect(tools).toEqual(expected);
  });

  it('openai', () => {
    const expected = [
      { type: 'function', function: { name: 'search', description: 'Finds lines.', parameters: schema } },
    ] satisfies OpenAI.Chat.ChatCompletionTool[];
    const tools: OpenAI.Chat.ChatCompletionTool[] = describeTools('openai', [definition]);
    expect(tools).toEqual(expected);
  });

  it('openai-responses', () => {
    const expected = [
      { type: 'function', name: 'search', description: 'Finds lines.', parameters: schema, strict: false },
    ] satisfies OpenAI.Responses.Tool[];
    const tools: OpenAI.Responses.Tool[] = describeTools('openai-responses', [definition]);
    expect(tools).toEqual(expected);
  });

  it('gemini', () => {
    const expected = [
      {
        name: 'search',
        description: 'Finds lines.',
        parameters: {
          properties: {
            in: { description: 'Where.', nullable: true, type: 'string' },
            mode: { enum: ['word', 'line'], type: 'string' },
            text: { minLength: '1', type: 'string' },
          },
          required: ['mode', 'text'],
          type: 'object',
        },
      },
    ] satisfies InLowerCase<FunctionDeclaration>[];
    const tools: { functionDeclarations: InLowerCase<FunctionDeclaration>[] }[] = describeTools('gemini', [
      definition,
    ]);
    expect(tools).toEqual([{ functionDeclarations: expected }]);
  });

  it('native', () => {
    expect(describeTools('native', [definition])).toEqual([definition]);
  });

  it('fenced', () => {
    expect(describeTools('fenced', [definition])).toMatchInlineSnapshot(`
      "You can use tools. To use one, write a block like this, its fences on lines of their own:

      \`\`\`tool
      {"name": "<tool>", "args": {"<argument>": "<value>"}, "reason": "<why>"}
      \`\`\`

      - A block holds one JSON object: "name" and "args" are required, "reason" may be left out.
      - It is strict JSON: double quotes, no comments, no trailing commas, a line end in a string as \\n.
      - Several blocks are several calls; they run in order. End your answer after the last block: the results come next.

      The tools:

      ## search
      Finds lines.
      args: {"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"properties":{"in":{"description":"Where.","type":["string","null"]},"mode":{"enum":["word","line"]},"text":{"minLength":1,"type":"string"}},"required":["text","mode"],"type":"object"}
      "
    `);
  });

  it('takes the definitions of an executor, and the tools themselves', () => {
    const definitions = createRegistry(builtinTools()).definitions();
    for (const format of ['anthropic', 'openai', 'openai-responses', 'gemini', 'native', 'fenced'] as const) {
      expect(describeTools(format, builtinTools())).toEqual(describeTools(format, definitions));
    }
  });
});
