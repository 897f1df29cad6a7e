export type { ReadError, ToolCall, ToolResult } from './contract/call.js';
export type { CallItem, CallOrigin } from './providers/call-origin.js';
export { type CallStream, createCallStream } from './providers/create-call-stream.js';
export { describeTools } from './providers/describe/describe-tools.js';
export type { ObjectSchema } from './providers/describe/object-schema.js';
export { parseToolBlocks, type ToolBlockOptions } from './providers/fenced/parse-tool-blocks.js';
export type { GeminiDeclaration, GeminiSchema } from './providers/gemini/describe.js';
export type { ToolLike } from './providers/known-tools.js';
export { type ReadOptions, readCalls } from './providers/read-calls.js';
export type { Answers, HistoryFormat, ToolDescriptions, WireFormat } from './providers/registry.js';
export type { HistoryChange, HistoryFault } from './providers/repair/change.js';
export {
  type FindResult,
  type FindResultNow,
  type RepairedHistory,
  type RepairOptions,
  repairHistory,
} from './providers/repair/repair-history.js';
export type { ReadCalls, ResponseCalls } from './providers/response-calls.js';
export { answerReadErrors } from './providers/response-calls.js';
export { type WriteResultsOptions, writeResults } from './providers/write-results.js';
