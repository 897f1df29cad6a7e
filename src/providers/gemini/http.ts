import type { HttpApi } from '../http/http-api.js';
import { GeminiAnswer } from './answer.js';

export const geminiHttp: HttpApi = {
  title: 'Gemini',
  factory: 'gemini',
  keyNames: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  baseUrlNames: ['GEMINI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  contextWindows: [
    [/gemini-1\.5-pro/, 2_097_152],
    [/gemini-1\.0|gemini-pro(?:-vision)?$/, 32_768],
    [/gemini/, 1_048_576],
  ],
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
