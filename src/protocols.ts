export type { ToolCall } from './contract/call.js';
export type { ToolResult } from './contract/result.js';
export { answerReadErrors } from './protocols/answer-read-errors.js';
export { type CallStream, createCallStream } from './protocols/create-call-stream.js';
export { parseToolBlocks, type ToolBlockOptions } from './protocols/parse-tool-blocks.js';
export { type ReadCalls, readCalls } from './protocols/read-calls.js';
export type { ReadError } from './protocols/read-error.js';
export type { WireFormat } from './protocols/wire-format.js';
export { writeResults } from './protocols/write-results.js';
