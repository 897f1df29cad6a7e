import type { Model } from '../../contract/model.js';
import { createModel } from '../create-model.js';
import type { ModelOptions } from '../model-options.js';
import type { ProviderApi } from '../provider-api.js';
import { GeminiAnswer } from './answer.js';

/**
 * A model with Google's Gemini API. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY`, another address
 * from `GEMINI_BASE_URL` or `GOOGLE_GEMINI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function gemini(options: ModelOptions): Model {
  return createModel(geminiApi, options);
}

export const geminiApi: ProviderApi = {
  format: 'gemini',
  title: 'Gemini',
  factory: 'gemini',
  keyNames: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  baseUrlNames: ['GEMINI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  path: (model) => `/v1beta/${resourceOf(model)}:streamGenerateContent?alt=sse`,
  headers: {},
  keyHeader: (key) => ({ 'x-goog-api-key': key }),
  body: ({ system, messages, tools, maxTokens }) => ({
    ...(system === undefined || system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(maxTokens === undefined ? {} : { generationConfig: { maxOutputTokens: maxTokens } }),
  }),
  concessions: [],
  createAnswer: () => new GeminiAnswer(),
  // A stream event is a response too.
  toEvents: (response) => ('candidates' in response || 'promptFeedback' in response ? [response] : []),
};

function resourceOf(model: string): string {
  const name = model.split('/').map(encodeURIComponent).join('/');
  return model.includes('/') ? name : `models/${name}`;
}
