import type { ToolDefinition } from '../../contract/tool.js';
import { type ObjectSchema, toObjectSchema, WORD_NAMES } from '../describe/object-schema.js';
import type { Provider } from '../provider.js';
import { isRecord, textsOf, toRecords } from '../unknown-value.js';
import { openaiHistory } from './history.js';
import { openaiHttp } from './http.js';
import { completionIdOf, isOpenai, readOpenai } from './read.js';
import { createOpenaiAssembler, isStreamEvent } from './stream.js';
import { openaiTurns } from './turns.js';
import { type OpenaiToolMessage, writeOpenai } from './write.js';

/**
 * Reads a chat completion or its message with `tool_calls`; writes a message of role `tool` for each result.
 */
export const openai = {
  title: 'OpenAI chat completions',
  vendor: 'openai',
  recognizes: isOpenai,
  idOf: completionIdOf,
  read: readOpenai,
  textOf: (input) => contentOf(isRecord(input) ? (toRecords(input.choices)[0]?.message ?? input) : input),
  createAssembler: createOpenaiAssembler,
  recognizesStream: (events) => events.some(isStreamEvent),
  write: (results, originOf) => results.map((result) => writeOpenai(result, originOf(result.callId))),
  names: WORD_NAMES,
  describe: (tools) => tools.map(describe),
  history: openaiHistory,
  turns: openaiTurns,
  http: openaiHttp,
} satisfies Provider<OpenaiToolMessage[], OpenaiTool[]>;

function contentOf(message: unknown): string {
  return isRecord(message) ? textsOf(message.content, 'text') : '';
}

export interface OpenaiTool {
  readonly type: 'function';
  readonly function: FunctionDescription;
}

export interface FunctionDescription {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

function describe(tool: ToolDefinition): OpenaiTool {
  return { type: 'function', function: describeFunction(tool) };
}

export function describeFunction(tool: ToolDefinition): FunctionDescription {
  const { schema, description } = toObjectSchema(tool);
  return { name: tool.name, description, parameters: schema };
}
