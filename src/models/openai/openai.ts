import type { JsonObject } from '../../contract/json.js';
import type { Model } from '../../contract/model.js';
import { createModel } from '../create-model.js';
import { isJsonObject, objectsIn } from '../json-fields.js';
import type { ModelOptions } from '../model-options.js';
import type { ProviderApi, ProviderRequest } from '../provider-api.js';
import { OpenaiAnswer } from './answer.js';

/**
 * A model with OpenAI's Chat Completions API, or any compatible server with a base URL. The key comes from
 * `OPENAI_API_KEY`, another address from `OPENAI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function openai(options: ModelOptions): Model {
  return createModel(openaiApi, options);
}

const USAGE = 'stream_options';
const OLD_LIMIT = 'max_tokens';

export const openaiApi: ProviderApi = {
  format: 'openai',
  title: 'OpenAI',
  factory: 'openai',
  keyNames: ['OPENAI_API_KEY'],
  baseUrlNames: ['OPENAI_BASE_URL'],
  defaultBaseUrl: 'https://api.openai.com/v1',
  path: () => '/chat/completions',
  headers: {},
  keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
  body: ({ model, system, messages, tools, maxTokens, without }) => ({
    model,
    messages: [...instructions(system), ...messages],
    ...(tools.length === 0 ? {} : { tools }),
    ...limit(maxTokens, without),
    stream: true,
    ...(without.has(USAGE) ? {} : { stream_options: { include_usage: true } }),
  }),
  concessions: [
    { name: USAGE, refusal: /stream_options|include_usage/ },
    // Newer OpenAI models only know the other name, most other servers the older one.
    { name: OLD_LIMIT, refusal: /max_completion_tokens/ },
  ],
  createAnswer: () => new OpenaiAnswer(),
  toEvents,
};

function instructions(system: string | undefined): readonly JsonObject[] {
  return system === undefined || system === '' ? [] : [{ role: 'system', content: system }];
}

function limit(tokens: number | undefined, without: ProviderRequest['without']): JsonObject {
  if (tokens === undefined) return {};
  return without.has(OLD_LIMIT) ? { max_completion_tokens: tokens } : { max_tokens: tokens };
}

/** A message as one delta: the position identifies its calls. */
function toEvents(completion: JsonObject): readonly JsonObject[] {
  const [choice] = objectsIn(completion.choices);
  if (choice === undefined || !isJsonObject(choice.message)) return [];
  const { message, ...more } = choice;
  const calls = objectsIn(message.tool_calls).map((call, index) => ({ ...call, index }));
  const delta = { ...message, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  return [{ ...completion, choices: [{ ...more, index: 0, delta }] }];
}
