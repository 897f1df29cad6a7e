import type { ToolResult } from '../../contract/call.js';
import type { Display } from './display.js';

/** What the person should know of the whole, besides the results themselves. */
export function noteResults(results: readonly ToolResult[], display: Display): void {
  const replayed = results.filter(({ metadata }) => metadata.replayed === true).length;
  if (replayed > 0) {
    const which =
      replayed === results.length ? 'these calls were' : `${replayed} of ${results.length} calls were`;
    display.note(
      `${which} delivered before and answered from the journal; nothing of that ran now. Use --again to run anew.`,
    );
  }
  for (const hint of hintsOf(results)) display.note(hint);
  const unapproved = results.filter(({ error }) => error?.code === 'approval_unavailable');
  const waiting = new Set(unapproved.flatMap(({ metadata }) => metadata.waits_for ?? []));
  for (const batch of waiting)
    display.note(`batch ${String(batch)} waits for you: "toolexec approve ${String(batch)}"`);
  const unasked = unapproved.filter(({ metadata }) => metadata.waits_for === undefined).length;
  if (unasked > 0) {
    const which = unasked === 1 ? '1 call needs' : `${unasked} calls need`;
    display.note(
      `${which} approval and there is nobody to ask. Run it again with --yes, --approve ID or --deny: ` +
        'what has its answer by now is not repeated.',
    );
  }
}

/** What the person can do about failures, each once; about what waits and needs approval the notes below say it. */
function hintsOf(results: readonly ToolResult[]): ReadonlySet<string> {
  const failed = results.filter(
    ({ error, metadata }) => error?.hint !== undefined && metadata.waits_for === undefined,
  );
  return new Set(failed.map(({ toolName, error }) => `${toolName}: ${error?.hint ?? ''}`));
}
