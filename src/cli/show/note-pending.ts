import type { ToolCall } from '../../contract/call.js';
import { describeName } from './describe-call.js';
import type { Display } from './display.js';
import { toSafeJson } from './to-safe-json.js';

/** Mode parse_only (FR-MODE-02, D093): what waits to be answered by hand, and how. */
export function notePending(
  calls: readonly ToolCall[],
  roots: readonly string[] | undefined,
  display: Display,
): void {
  const root = (roots ?? []).map((path) => ` --root ${quote(path)}`).join('');
  for (const { id, name, args } of calls) {
    const byHand = `toolexec call${root} ${quote(name)} ${quote(toSafeJson(args))}`;
    display.note(`pending: ${describeName({ toolName: name, callId: id })}. By hand: ${byHand}`);
  }
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
