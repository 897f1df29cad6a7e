import { toBase64 } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigin } from '../call-origin.js';
import { bytesOf, textBeside, toModelParts, toModelText, uncarriedWords } from '../content-words.js';

/** The answer to one call, of the kind that its item requires. */
export type OpenaiOutputItem = { readonly call_id: string; readonly caller?: ProgramCaller } & (
  | {
      readonly type: 'function_call_output' | 'custom_tool_call_output';
      /** A text if there is only text. */
      readonly output: string | OpenaiOutputContent[];
    }
  | {
      readonly type: 'shell_call_output';
      readonly output: ShellOutput[];
      /** Present exactly if the call has it. */
      readonly max_output_length?: number;
    }
  | {
      readonly type: 'local_shell_call_output';
      /** Required by the provider's types; its server requires `call_id`. */
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

/** A block in the provider's format; undefined if it is not supported. */
export function carry(block: ContentBlock): OpenaiOutputContent | undefined {
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

interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' };
}

/**
 * The output and exit code of a command. The format also requires an exit code for a call that never started
 * a process: 126, as shells use for commands that cannot run; standard error gives the reason.
 */
function toShellOutput(result: ToolResult): ShellOutput {
  const streams = withBlocks(splitStreams({ ...result, output: textBeside(result) }), uncarriedWords(result));
  if (result.success) return { ...streams, outcome: { type: 'exit', exit_code: 0 } };
  if (result.error.code === 'timeout') return { ...streams, outcome: { type: 'timeout' } };
  const { exit_code: exitCode } = result.metadata;
  if (typeof exitCode === 'number' && exitCode !== 0)
    return { ...streams, outcome: { type: 'exit', exit_code: exitCode } };
  const { content: _, ...alone } = result;
  const reason = toModelText({ ...alone, output: '' });
  const stderr = streams.stderr === '' ? reason : `${streams.stderr.replace(/\n?$/, '\n')}${reason}`;
  return { ...streams, stderr, outcome: { type: 'exit', exit_code: codeWithoutExit(result) } };
}

/** Shells print text, so content blocks are described after the output. */
function withBlocks<T extends { readonly stdout: string }>(streams: T, words: string): T {
  if (words === '') return streams;
  return { ...streams, stdout: `${streams.stdout.replace(/([^\n])$/, '$1\n')}${words}` };
}

/** The metadata contains both streams up to this size; the output contains both in sequence. */
const WHOLE_IN_METADATA = 4096;
const STDERR_LABEL = '[stderr]\n';

function splitStreams({ output, metadata }: ToolResult): { stdout: string; stderr: string } {
  const stdout = wholeStream(metadata, 'stdout');
  const stderr = wholeStream(metadata, 'stderr');
  if (stdout !== undefined && stderr !== undefined) return { stdout, stderr };
  if (stderr === undefined || stderr === '') return { stdout: output, stderr: '' };
  const tail = `${STDERR_LABEL}${stderr}`;
  // At any other split, a part of one stream would appear in the other.
  if (!output.endsWith(tail)) return { stdout: output, stderr: '' };
  return { stdout: output.slice(0, -tail.length).replace(/\n\n$/, ''), stderr };
}

function wholeStream(metadata: JsonObject, name: 'stdout' | 'stderr'): string | undefined {
  const text = metadata[name];
  const bytes = metadata[`${name}_bytes`];
  const isWhole = typeof bytes === 'number' && bytes <= WHOLE_IN_METADATA;
  return typeof text === 'string' && isWhole ? text : undefined;
}

const CANNOT_RUN = 126;
const BY_SIGNAL = 128;
const SIGNALS: { readonly [name: string]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

function codeWithoutExit({ metadata, error }: ToolResult): number {
  const { signal } = metadata;
  const number = typeof signal === 'string' && Object.hasOwn(SIGNALS, signal) ? SIGNALS[signal] : undefined;
  if (number !== undefined) return BY_SIGNAL + number;
  return error?.details?.executed === 'no' ? CANNOT_RUN : 1;
}
