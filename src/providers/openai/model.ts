import { createModel } from '../http/create-model.js';
import type { ModelOptions } from '../http/model-options.js';
import type { Model } from '../model.js';

/**
 * A model with OpenAI's Chat Completions API, or any compatible server with a base URL. The key comes from
 * `OPENAI_API_KEY`, another address from `OPENAI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function openai(options: ModelOptions): Model {
  return createModel('openai', options);
}
