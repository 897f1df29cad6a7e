import type { JsonObject } from '../../contract/json.js';
import type { Model } from '../../contract/model.js';
import { createModel } from '../create-model.js';
import { objectsIn, textIn } from '../json-fields.js';
import type { ModelOptions } from '../model-options.js';
import type { ProviderApi } from '../provider-api.js';
import { OpenaiResponsesAnswer } from './answer.js';

/**
 * A model with OpenAI's Responses API. The provider stores nothing: every request contains the whole
 * conversation, with encrypted reasoning. The key comes from `OPENAI_API_KEY`, another address from
 * `OPENAI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function openaiResponses(options: ModelOptions): Model {
  return createModel(openaiResponsesApi, options);
}

const REASONING = 'reasoning.encrypted_content';

export const openaiResponsesApi: ProviderApi = {
  format: 'openai-responses',
  title: 'OpenAI',
  factory: 'openaiResponses',
  keyNames: ['OPENAI_API_KEY'],
  baseUrlNames: ['OPENAI_BASE_URL'],
  defaultBaseUrl: 'https://api.openai.com/v1',
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
