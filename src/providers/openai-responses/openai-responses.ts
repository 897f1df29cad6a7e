import type { ToolDefinition } from '../../contract/tool.js';
import { WORD_NAMES } from '../describe/object-schema.js';
import { describeFunction, type FunctionDescription } from '../openai/openai.js';
import type { Provider } from '../provider.js';
import { isRecord, textsOf, toRecords } from '../unknown-value.js';
import { openaiResponsesHistory } from './history.js';
import { openaiResponsesHttp } from './http.js';
import { isOpenaiResponses, readOpenaiResponses, responseIdOf } from './read.js';
import { createOpenaiResponsesAssembler, isStreamEvent } from './stream.js';
import { openaiResponsesTurns } from './turns.js';
import { type OpenaiOutputItem, writeOutputItem } from './write.js';

/** Reads a response or its output items with calls; writes an output item of the matching kind for each. */
export const openaiResponses = {
  title: 'OpenAI responses',
  vendor: 'openai',
  recognizes: isOpenaiResponses,
  idOf: responseIdOf,
  read: readOpenaiResponses,
  textOf: (input) =>
    toRecords(isRecord(input) ? input.output : input)
      .filter((item) => item.type === 'message')
      .map(({ content }) => textsOf(content, 'output_text'))
      .join('\n'),
  createAssembler: createOpenaiResponsesAssembler,
  recognizesStream: (events) => events.some(isStreamEvent),
  write: (results, originOf) => results.map((result) => writeOutputItem(result, originOf(result.callId))),
  names: WORD_NAMES,
  describe: (tools) => tools.map(describe),
  history: openaiResponsesHistory,
  turns: openaiResponsesTurns,
  http: openaiResponsesHttp,
} satisfies Provider<OpenaiOutputItem[], OpenaiResponsesTool[]>;

export interface OpenaiResponsesTool extends FunctionDescription {
  readonly type: 'function';
  readonly strict: false;
}

function describe(tool: ToolDefinition): OpenaiResponsesTool {
  return { type: 'function', ...describeFunction(tool), strict: false };
}
