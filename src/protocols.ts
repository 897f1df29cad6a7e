export type { ToolCall, ToolResult } from './contract/call.js';
export { answerReadErrors } from './protocols/answer-read-errors.js';
export type { CallItem, CallOrigin } from './protocols/call-origin.js';
export { type CallStream, createCallStream } from './protocols/create-call-stream.js';
export {
  describeTools,
  type GeminiDeclaration,
  type ToolDescriptions,
} from './protocols/describe/describe-tools.js';
export type { GeminiSchema } from './protocols/describe/gemini-schema.js';
export type { ObjectSchema } from './protocols/describe/to-object-schema.js';
export { parseToolBlocks, type ToolBlockOptions } from './protocols/parse-tool-blocks.js';
export { type ReadOptions, readCalls } from './protocols/read-calls.js';
export type { ReadError } from './protocols/read-error.js';
export type { HistoryChange, HistoryFault } from './protocols/repair/change.js';
export type { HistoryFormat } from './protocols/repair/history-shapes.js';
export {
  type FindResult,
  type FindResultNow,
  type RepairedHistory,
  type RepairOptions,
  repairHistory,
} from './protocols/repair/repair-history.js';
export type { ReadCalls, ResponseCalls } from './protocols/response-calls.js';
export type { ToolLike } from './protocols/tool-like.js';
export type { WireFormat } from './protocols/wire-format.js';
export type { Answers } from './protocols/wire-protocol.js';
export { type WriteResultsOptions, writeResults } from './protocols/write-results.js';
