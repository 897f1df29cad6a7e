import type { ToolResult } from '../../contract/result.js';
import type { CallOrigin } from '../call-origin.js';
import { toModelText } from '../to-model-text.js';
import { type ShellOutput, toShellOutput } from './to-shell-output.js';

/** The answer to one call, of the kind that its item demands. */
export type OpenaiOutputItem = { readonly call_id: string; readonly caller?: ProgramCaller } & (
  | { readonly type: 'function_call_output' | 'custom_tool_call_output'; readonly output: string }
  | {
      readonly type: 'shell_call_output';
      readonly output: ShellOutput[];
      /** There exactly when the call has it. */
      readonly max_output_length?: number;
    }
  | {
      readonly type: 'local_shell_call_output';
      /** What the types of the provider ask for; its server asks for `call_id`. */
      readonly id: string;
      readonly output: string;
    }
  | {
      readonly type: 'apply_patch_call_output';
      readonly status: 'completed' | 'failed';
      readonly output: string;
    }
);

interface ProgramCaller {
  readonly type: 'program';
  readonly caller_id: string;
}

export function writeOutputItem(result: ToolResult, origin: CallOrigin | undefined): OpenaiOutputItem {
  const item = toItem(result, origin);
  if (origin?.program === undefined) return item;
  return { ...item, caller: { type: 'program', caller_id: origin.program } };
}

function toItem(result: ToolResult, origin: CallOrigin | undefined): OpenaiOutputItem {
  const { callId, success } = result;
  switch (origin?.item) {
    case 'shell_call': {
      const { maxOutputLength: limit } = origin;
      return {
        type: 'shell_call_output',
        call_id: callId,
        output: [toShellOutput(result)],
        ...(limit === undefined ? {} : { max_output_length: limit }),
      };
    }
    case 'local_shell_call':
      return { type: 'local_shell_call_output', id: callId, call_id: callId, output: toModelText(result) };
    case 'apply_patch_call': {
      const status = success ? 'completed' : 'failed';
      return { type: 'apply_patch_call_output', call_id: callId, status, output: toModelText(result) };
    }
    case 'custom_tool_call':
      return { type: 'custom_tool_call_output', call_id: callId, output: toModelText(result) };
    default:
      return { type: 'function_call_output', call_id: callId, output: toModelText(result) };
  }
}
