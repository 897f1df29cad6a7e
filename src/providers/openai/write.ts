import type { ToolResult } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import { toModelText } from '../content-words.js';

export type OpenaiToolMessage =
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  /** For a legacy `function_call`, which has no id. */
  | { readonly role: 'function'; readonly name: string; readonly content: string };

export function writeOpenai(result: ToolResult, origin: CallOrigin | undefined): OpenaiToolMessage {
  const content = toModelText(result);
  if (origin?.item === 'legacy_function_call') {
    return { role: 'function', name: origin.name ?? result.toolName, content };
  }
  return { role: 'tool', tool_call_id: result.callId, content };
}
