import type { ToolResult } from '../../contract/result.js';
import { toModelText } from '../to-model-text.js';

export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  /** Only on a failure. */
  readonly is_error?: true;
}

/** The API refuses a history in which the results of one message are spread over several. */
export function writeAnthropic(results: readonly ToolResult[]): {
  readonly role: 'user';
  readonly content: readonly AnthropicToolResult[];
} {
  return { role: 'user', content: results.map(toBlock) };
}

function toBlock(result: ToolResult): AnthropicToolResult {
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: toModelText(result),
    ...(result.success ? {} : { is_error: true }),
  };
}
