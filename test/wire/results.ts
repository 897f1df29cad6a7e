import type { ToolResult } from '../../src/contract/call.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';

type Rest = Partial<Pick<ToolResult, 'output' | 'toolName' | 'metadata'>>;

export function success(callId: string, rest: Rest = {}): ToolResult {
  return { ...base(callId, rest), success: true };
}

export function failure(
  callId: string,
  [code, message]: readonly [ErrorCode, string],
  rest: Rest = {},
): ToolResult {
  return { ...base(callId, rest), success: false, error: { code, message, details: { executed: 'no' } } };
}

function base(callId: string, rest: Rest) {
  return {
    callId,
    toolName: 'bash',
    output: '',
    truncated: false,
    executionTimeMs: 1,
    metadata: {},
    ...rest,
  };
}

/** The fields of `bash` for a command, besides its output. */
export function ran(exitCode: number | null, stdout: string, stderr = '', more: object = {}): Rest {
  return {
    output: stderr === '' ? stdout : `${stdout}\n\n[stderr]\n${stderr}`,
    metadata: {
      exit_code: exitCode,
      signal: null,
      stdout,
      stderr,
      stdout_bytes: Buffer.byteLength(stdout),
      stderr_bytes: Buffer.byteLength(stderr),
      ...more,
    },
  };
}
