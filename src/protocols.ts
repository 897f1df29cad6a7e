export type { ReadError, ToolCall, ToolResult } from './contract/call.js';
export type { CallItem, CallOrigin } from './protocols/call-origin.js';
export { type CallStream, createCallStream } from './protocols/create-call-stream.js';
export { describeTools } from './protocols/describe/describe-tools.js';
export type { ObjectSchema } from './protocols/describe/object-schema.js';
export { parseToolBlocks, type ToolBlockOptions } from './protocols/fenced/parse-tool-blocks.js';
export type { GeminiDeclaration, GeminiSchema } from './protocols/gemini/describe.js';
export type { ToolLike } from './protocols/known-tools.js';
export { type ReadOptions, readCalls } from './protocols/read-calls.js';
export type { Answers, HistoryFormat, ToolDescriptions, WireFormat } from './protocols/registry.js';
export type { HistoryChange, HistoryFault } from './protocols/repair/change.js';
export {
  type FindResult,
  type FindResultNow,
  type RepairedHistory,
  type RepairOptions,
  repairHistory,
} from './protocols/repair/repair-history.js';
export type { ReadCalls, ResponseCalls } from './protocols/response-calls.js';
export { answerReadErrors } from './protocols/response-calls.js';
export { type WriteResultsOptions, writeResults } from './protocols/write-results.js';
