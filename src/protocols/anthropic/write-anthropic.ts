import type { ToolResult } from '../../contract/result.js';
import type { CallOrigin, OriginLookup } from '../call-origin.js';
import { toModelText } from '../to-model-text.js';

export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  /** Only on a failure. */
  readonly is_error?: true;
  /** Of a call of a tool of that family, which has to be answered with it. */
  readonly toolset_name?: string;
}

/** The message that follows the one with the calls. */
export interface AnthropicAnswer {
  readonly role: 'user';
  readonly content: AnthropicToolResult[];
}

/** The API refuses a history in which the results of one message are spread over several. */
export function writeAnthropic(results: readonly ToolResult[], originOf: OriginLookup): AnthropicAnswer {
  return { role: 'user', content: results.map((result) => toBlock(result, originOf(result.callId))) };
}

function toBlock(result: ToolResult, origin: CallOrigin | undefined): AnthropicToolResult {
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: toModelText(result),
    ...(result.success ? {} : { is_error: true }),
    ...(origin?.toolset === undefined ? {} : { toolset_name: origin.toolset }),
  };
}
