export type { ModelUsage, UserMessage } from './contract/model.js';
export { ModelError } from './errors/model-error.js';
export { anthropic } from './providers/anthropic/model.js';
export { gemini } from './providers/gemini/model.js';
export type { ModelOptions } from './providers/http/model-options.js';
export type {
  AssistantMessage,
  Model,
  ModelEnd,
  ModelEvent,
  ModelFormat,
  ModelMessage,
  ModelRequest,
  NativeMessages,
  ToolMessage,
} from './providers/model.js';
export { openai } from './providers/openai/model.js';
export { openaiResponses } from './providers/openai-responses/model.js';
