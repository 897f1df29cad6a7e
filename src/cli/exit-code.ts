import type { ToolResult } from '../contract/call.js';
import { EXIT_CODES } from '../errors/catalogue.js';

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]['code'];

/** What a batch says to the shell; where several apply, the first in the order of the catalogue. */
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
