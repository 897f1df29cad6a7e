import type { ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { toModelText } from '../to-model-text.js';

export interface ShellOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly outcome: { readonly type: 'exit'; readonly exit_code: number } | { readonly type: 'timeout' };
}

/**
 * What a command printed and how it ended. A call that never became a process has an exit code all the same, since
 * the shape knows nothing else: 126, as shells say of what cannot be run; standard error says why.
 */
export function toShellOutput(result: ToolResult): ShellOutput {
  const streams = splitStreams(result);
  if (result.success) return { ...streams, outcome: { type: 'exit', exit_code: 0 } };
  if (result.error.code === 'timeout') return { ...streams, outcome: { type: 'timeout' } };
  const { exit_code: exitCode } = result.metadata;
  if (typeof exitCode === 'number' && exitCode !== 0)
    return { ...streams, outcome: { type: 'exit', exit_code: exitCode } };
  const reason = toModelText({ ...result, output: '' });
  const stderr = streams.stderr === '' ? reason : `${streams.stderr.replace(/\n?$/, '\n')}${reason}`;
  return { ...streams, stderr, outcome: { type: 'exit', exit_code: codeWithoutExit(result) } };
}

/** The metadata repeats both streams up to this size; the output holds both, one after the other. */
const WHOLE_IN_METADATA = 4096;
const STDERR_LABEL = '[stderr]\n';

function splitStreams({ output, metadata }: ToolResult): { stdout: string; stderr: string } {
  const stdout = wholeStream(metadata, 'stdout');
  const stderr = wholeStream(metadata, 'stderr');
  if (stdout !== undefined && stderr !== undefined) return { stdout, stderr };
  if (stderr === undefined || stderr === '') return { stdout: output, stderr: '' };
  const tail = `${STDERR_LABEL}${stderr}`;
  // Cut anywhere else, a part of one stream would pass for the other.
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
