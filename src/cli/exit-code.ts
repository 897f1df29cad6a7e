import type { ToolResult } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import { EXIT_CODES } from '../errors/catalogue.js';
import { isToolError } from '../errors/tool-error.js';
import { sanitize } from '../output/sanitize.js';
import { signalNumber } from '../platform/process/send-signal.js';
import type { CliContext, ExitCode } from './cli-context.js';
import { OutputLost, UsageError } from './cli-context.js';
import { asTyped } from './display/as-typed.js';
import { toSafeJson, wantsJson } from './display/terminal-text.js';

/** The exit code of a batch. If several apply, the first in the order of the catalogue. */
export function exitCodeOf(
  results: readonly ToolResult[],
  interrupted: boolean,
  conversationWaits = false,
): ExitCode {
  if (interrupted) return EXIT_CODES.interrupted.code;
  if (conversationWaits) return EXIT_CODES.unsettled.code;
  if (results.some(({ error }) => error?.code === 'approval_unavailable'))
    return EXIT_CODES.approvalNeeded.code;
  return results.every(({ success }) => success) ? EXIT_CODES.ok.code : EXIT_CODES.failed.code;
}

/**
 * The exit code of the command that a result is about, as a shell reports it. Undefined: the command has not
 * ended.
 */
export function commandExitCode({ exit_code: code, signal }: JsonObject): number | undefined {
  if (typeof signal === 'string') return 128 + (signalNumber(signal) ?? 0);
  return typeof code === 'number' ? code : undefined;
}

/** Errors that the person can fix by typing the command differently. */
const MENDABLE = ['config_invalid', 'already_decided', 'unknown_batch'] as const;

/** Reports an error in one line, and all further problems of a configuration; the stack only with TOOLEXEC_DEBUG=1. */
export function reportError(error: unknown, { stdio, env }: Pick<CliContext, 'stdio' | 'env'>): ExitCode {
  const isCwdGone = isDirectoryGone(error);
  const isMendable =
    isCwdGone || error instanceof UsageError || MENDABLE.some((code) => isToolError(error, code));
  const told = isCwdGone ? DIRECTORY_GONE : error instanceof Error ? error.message : String(error);
  const message =
    isMendable || error instanceof OutputLost
      ? asTyped(told)
      : `Something went wrong inside toolexec: ${told} (TOOLEXEC_DEBUG=1 shows where).`;
  const problems = furtherProblems(error);
  const report = { type: 'error', message, ...(problems.length === 0 ? {} : { further: problems }) };
  const lines = [
    `toolexec: ${sanitize(message, 'inline')}`,
    ...problems.map((line) => `  ${sanitize(line, 'inline')}`),
  ];
  stdio.stderr.write(wantsJson(stdio.args) ? `${toSafeJson(report)}\n` : `${lines.join('\n')}\n`);
  if (env.TOOLEXEC_DEBUG === '1' && error instanceof Error)
    stdio.stderr.write(`${sanitize(error.stack ?? '')}\n`);
  return isMendable ? EXIT_CODES.usage.code : EXIT_CODES.failed.code;
}

/** The problems of a configuration that its message only counts; the last line counts those beyond the fiftieth. */
export function furtherProblems(error: unknown): readonly string[] {
  // The message of an error that wraps another one says it in its own words.
  if (!isToolError(error) || error.code !== 'config_invalid') return [];
  const { problems, count } = error.details;
  const [, ...further] = Array.isArray(problems) ? problems.map(String) : [];
  const rest = typeof count === 'number' ? count - further.length - 1 : 0;
  return rest > 0 && further.length > 0 ? [...further, `… and ${rest} more`] : further;
}

const DIRECTORY_GONE =
  'Cannot work here: the current directory was removed. Change to one that exists: cd, or cd "$PWD" where it was made again.';

/** Node's error for a working directory that another process has removed. */
function isDirectoryGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}
