export type {
  AssistantMessage,
  Model,
  ModelEnd,
  ModelEvent,
  ModelFormat,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  NativeMessages,
  ToolMessage,
  UserMessage,
} from './contract/model.js';
export { ModelError } from './errors/model-error.js';
export { anthropic } from './models/anthropic/anthropic.js';
export { gemini } from './models/gemini/gemini.js';
export type { ModelOptions } from './models/model-options.js';
export { openai } from './models/openai/openai.js';
export { openaiResponses } from './models/openai-responses/openai-responses.js';
