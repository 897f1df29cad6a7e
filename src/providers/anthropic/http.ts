import type { JsonObject } from '../../contract/json.js';
import type { HttpApi } from '../http/http-api.js';
import { objectsIn } from '../json-fields.js';
import { AnthropicAnswer } from './answer.js';

export const anthropicHttp: HttpApi = {
  title: 'Anthropic',
  factory: 'anthropic',
  keyNames: ['ANTHROPIC_API_KEY'],
  baseUrlNames: ['ANTHROPIC_BASE_URL'],
  defaultBaseUrl: 'https://api.anthropic.com',
  contextWindows: [
    [/claude-(?:instant|2\.0)/, 100_000],
    [/claude/, 200_000],
  ],
  path: () => '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  keyHeader: (key) => ({ 'x-api-key': key }),
  body: ({ model, system, messages, tools, maxTokens }) => ({
    model,
    max_tokens: maxTokens ?? mostTokens(model),
    ...(system === undefined || system === '' ? {} : { system }),
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
  }),
  concessions: [],
  createAnswer: () => new AnthropicAnswer(),
  toEvents,
};

/** The API requires a number, and rejects one above the model's limit. */
function mostTokens(model: string): number {
  if (/claude-(?:3-(?:opus|sonnet|haiku)|2|instant)/.test(model)) return 4_096;
  if (/claude-3-5/.test(model)) return 8_192;
  return model.includes('claude') ? 32_000 : 8_192;
}

function toEvents(message: JsonObject): readonly JsonObject[] {
  if (message.type !== 'message') return [];
  const { content, stop_reason: reason = null, usage = {} } = message;
  return [
    { type: 'message_start', message: { ...message, content: [] } },
    ...objectsIn(content).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason }, usage },
    { type: 'message_stop' },
  ];
}
