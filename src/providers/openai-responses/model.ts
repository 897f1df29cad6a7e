import { createModel } from '../http/create-model.js';
import type { ModelOptions } from '../http/model-options.js';
import type { Model } from '../model.js';

/**
 * A model with OpenAI's Responses API. The provider stores nothing: every request contains the whole
 * conversation, with encrypted reasoning. The key comes from `OPENAI_API_KEY`, another address from
 * `OPENAI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function openaiResponses(options: ModelOptions): Model {
  return createModel('openai-responses', options);
}
