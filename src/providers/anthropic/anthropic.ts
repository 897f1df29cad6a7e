import type { ToolDefinition } from '../../contract/tool.js';
import { type ObjectSchema, toObjectSchema, WORD_NAMES } from '../describe/object-schema.js';
import type { Provider } from '../provider.js';
import { isRecord, textsOf } from '../unknown-value.js';
import { anthropicHistory } from './history.js';
import { anthropicHttp } from './http.js';
import { isAnthropic, messageIdOf, readAnthropic } from './read.js';
import { createAnthropicAssembler, isStreamEvent } from './stream.js';
import { anthropicTurns } from './turns.js';
import { type AnthropicAnswer, writeAnthropic } from './write.js';

/** Reads a message or its content blocks; writes the single user message with all results. */
export const anthropic = {
  title: 'Anthropic',
  vendor: 'anthropic',
  recognizes: isAnthropic,
  idOf: messageIdOf,
  read: readAnthropic,
  textOf: (input) => textsOf(isRecord(input) ? input.content : input, 'text'),
  createAssembler: createAnthropicAssembler,
  recognizesStream: (events) => events.some(isStreamEvent),
  write: writeAnthropic,
  names: WORD_NAMES,
  describe: (tools) => tools.map(describe),
  history: anthropicHistory,
  turns: anthropicTurns,
  http: anthropicHttp,
} satisfies Provider<AnthropicAnswer, AnthropicTool[]>;

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

function describe(tool: ToolDefinition): AnthropicTool {
  const { schema, description } = toObjectSchema(tool, PROPERTY_NAME);
  return { name: tool.name, description, input_schema: schema };
}
