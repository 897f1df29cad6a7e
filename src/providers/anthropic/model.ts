import { createModel } from '../http/create-model.js';
import type { ModelOptions } from '../http/model-options.js';
import type { Model } from '../model.js';

/**
 * A model with Anthropic's Messages API. The key comes from `ANTHROPIC_API_KEY`, another address from
 * `ANTHROPIC_BASE_URL`.
 * @throws ToolError `config_invalid` for an invalid option, and without a key.
 */
export function anthropic(options: ModelOptions): Model {
  return createModel('anthropic', options);
}
