import { toBase64 } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { CallOrigin } from '../call-origin.js';
import { bytesOf } from '../content-words.js';
import { toModelParts, toModelText } from '../to-model-text.js';
import { type ShellOutput, toShellOutput } from './to-shell-output.js';

/** The answer to one call, of the kind that its item demands. */
export type OpenaiOutputItem = { readonly call_id: string; readonly caller?: ProgramCaller } & (
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output';
      /** A text where there is nothing but text. */
      readonly output: string | OpenaiOutputContent[];
    }
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

/** `image_url` and `file_data` are data URLs. */
export type OpenaiOutputContent =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string };

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
      return { type: 'custom_tool_call_output', call_id: callId, output: toOutput(result) };
    default:
      return { type: 'function_call_output', call_id: callId, output: toOutput(result) };
  }
}

function toOutput(result: ToolResult): string | OpenaiOutputContent[] {
  const parts = toModelParts(result, carry);
  if (typeof parts === 'string') return parts;
  return parts.map((part) => (typeof part === 'string' ? { type: 'input_text', text: part } : part));
}

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

function carry(block: ContentBlock): OpenaiOutputContent | undefined {
  if (!('data' in block) || block.data === undefined) return undefined;
  const { mediaType = '' } = block;
  const url = (): string => `data:${mediaType};base64,${toBase64(bytesOf(block))}`;
  if (IMAGE.test(mediaType)) return { type: 'input_image', image_url: url(), detail: 'auto' };
  if (mediaType !== 'application/pdf') return undefined;
  const filename = block.type === 'resource' ? fileNameOf(block.uri) : 'document.pdf';
  return { type: 'input_file', filename, file_data: url() };
}

function fileNameOf(uri: string): string {
  const name = /([^/\\?#]+)(?:[?#].*)?$/.exec(uri)?.[1];
  return name === undefined ? 'document.pdf' : name.slice(-200);
}
