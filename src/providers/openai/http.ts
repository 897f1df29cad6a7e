import type { JsonObject } from '../../contract/json.js';
import type { HttpApi, ProviderRequest } from '../http/http-api.js';
import { isJsonObject, objectsIn } from '../json-fields.js';
import { OpenaiAnswer } from './answer.js';

const USAGE = 'stream_options';
const OLD_LIMIT = 'max_tokens';

export const openaiHttp: HttpApi = {
  title: 'OpenAI',
  factory: 'openai',
  keyNames: ['OPENAI_API_KEY'],
  baseUrlNames: ['OPENAI_BASE_URL'],
  defaultBaseUrl: 'https://api.openai.com/v1',
  contextWindows: [
    [/gpt-4\.1/, 1_047_576],
    [/gpt-5.*chat/, 128_000],
    [/gpt-5|codex/, 400_000],
    [/gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125)/, 128_000],
    [/gpt-4-32k/, 32_768],
    [/gpt-4(?![.\d])/, 8_192],
    [/gpt-3\.5/, 16_385],
    [/gpt-oss/, 131_072],
    [/\bo1-(?:mini|preview)/, 128_000],
    [/\bo[134](?:-|$)/, 200_000],
  ],
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
