import { createModel } from '../http/create-model.js';
import type { ModelOptions } from '../http/model-options.js';
import type { Model } from '../model.js';

/**
 * A model with Google's Gemini API. The key comes from `GEMINI_API_KEY` or `GOOGLE_API_KEY`, another address
 * from `GEMINI_BASE_URL` or `GOOGLE_GEMINI_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key if no base URL is given.
 */
export function gemini(options: ModelOptions): Model {
  return createModel('gemini', options);
}
