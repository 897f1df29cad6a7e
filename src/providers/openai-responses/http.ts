import type { JsonObject } from '../../contract/json.js';
import type { HttpApi } from '../http/http-api.js';
import { objectsIn, textIn } from '../json-fields.js';
import { OpenaiResponsesAnswer } from './answer.js';

const REASONING = 'reasoning.encrypted_content';

export const openaiResponsesHttp: HttpApi = {
  title: 'OpenAI',
  factory: 'openaiResponses',
  keyNames: ['OPENAI_API_KEY'],
  baseUrlNames: ['OPENAI_BASE_URL'],
  defaultBaseUrl: 'https://api.openai.com/v1',
  // They are the models of chat completions, which lists them.
  contextWindows: [],
  path: () => '/responses',
  headers: {},
  keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
  body: ({ model, system, messages, tools, maxTokens, without }) => ({
    model,
    ...(system === undefined || system === '' ? {} : { instructions: system }),
    input: messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    store: false,
    ...(without.has(REASONING) ? {} : { include: [REASONING] }),
    stream: true,
  }),
  // Models without reasoning reject this option.
  concessions: [{ name: REASONING, refusal: /encrypted[_ ]content/i }],
  createAnswer: () => new OpenaiResponsesAnswer(),
  toEvents,
};

function toEvents(response: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(response.output)) return [];
  const said = objectsIn(response.output)
    .filter(({ type }) => type === 'message')
    .flatMap(({ content }) => objectsIn(content))
    .map((part) =>
      part.type === 'refusal'
        ? { type: 'response.refusal.delta', delta: textIn(part.refusal) }
        : { type: 'response.output_text.delta', delta: textIn(part.text) },
    );
  const status = textIn(response.status);
  const end = status === 'failed' || status === 'incomplete' ? status : 'completed';
  return [...said, { type: `response.${end}`, response }];
}
