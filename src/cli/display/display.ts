import type { ToolResult } from '../../contract/call.js';
import type { ToolEvent } from '../../contract/executor.js';
import { sanitize } from '../../output/sanitize.js';
import { systemClock } from '../../platform/clock/clock.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { asTyped, resultAsTyped } from './as-typed.js';
import { describeName, describeResult } from './describe-call.js';
import { createProgressLines, type ProgressSettings } from './progress-lines.js';
import type { Palette } from './terminal-text.js';
import { createPalette, toSafeJson } from './terminal-text.js';

/** The output on standard error while a batch runs. */
export interface Display {
  event(event: ToolEvent): void;
  /** Shows a note about the whole batch. */
  note(message: string): void;
  /** Leaves the screen to a question until the returned function is called; later output is shown then. */
  hold(): () => void;
  /** Ends the display after the batch. */
  end(): void;
}

/** The display for the kind of standard error: a terminal with a person, a file, or a program. */
export function createDisplay(
  out: TextOutput,
  json: boolean,
  env: Readonly<Record<string, string | undefined>>,
  progress: ProgressSettings = {},
): Display {
  if (json) return createJsonDisplay(out);
  const palette = createPalette(out.isTerminal, env);
  return out.isTerminal && !isAutomated(env)
    ? createProgressLines(out, palette, systemClock, progress)
    : createPlainDisplay(out, palette);
}

/** In continuous integration there may be a terminal without a person. */
export function isAutomated(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.CI !== undefined && !['', '0', 'false'].includes(env.CI);
}

/**
 * For programs: one event per line, as in the library, with hints rewritten for the command; a note is
 * `{"type":"note","message":…}`.
 */
function createJsonDisplay(out: TextOutput): Display {
  const line = (value: unknown): void => out.write(`${toSafeJson(value)}\n`);
  return {
    event: (event) =>
      line(event.type === 'completed' ? { ...event, result: resultAsTyped(event.result) } : event),
    note: (message) => line({ type: 'note', message }),
    hold: () => nothing,
    end() {},
  };
}

/** For files, pipes and machines: one line when a call starts, and one when it ends. */
function createPlainDisplay(out: TextOutput, palette: Palette): Display {
  const summaries = new Map<string, string>();
  const line = (text: string): void => out.write(`${text}\n`);
  return {
    event(event) {
      // A second call with this id does not run and has no summary: the first one keeps its own.
      if (event.type === 'planned' && event.plan.summary !== '')
        summaries.set(event.callId, sanitize(event.plan.summary, 'inline'));
      if (event.type === 'started') {
        line(`${palette.dim('▸')} ${describeName(event)} ${summaries.get(event.callId) ?? ''}`.trimEnd());
      }
      if (event.type === 'completed') line(describeResult(event.result, palette));
    },
    note: (message) => line(`toolexec: ${sanitize(message, 'inline')}`),
    hold: () => nothing,
    end() {},
  };
}

const nothing = (): void => {};

/** Options give consent to contents that were shown. Only a person can look at others. */
function noteChanged(unapproved: readonly ToolResult[], display: Display): void {
  for (const { callId, toolName, error } of unapproved) {
    const changed = error?.details?.changed;
    if (!Array.isArray(changed)) continue;
    display.note(
      `${toolName} (${callId}) was not approved: changed since it was shown: ${changed.join(', ')}. ` +
        'Look at it at a terminal, or refuse it with --deny.',
    );
  }
}

/**
 * Tells the person facts about the whole batch beyond the results.
 * @param consent the options of this command that decide in advance
 */
export function noteResults(
  results: readonly ToolResult[],
  display: Display,
  consent = '--yes, --approve ID or --deny',
): void {
  const replayed = results.filter(({ metadata }) => metadata.replayed === true).length;
  if (replayed > 0) {
    const which =
      replayed === results.length ? 'these calls were' : `${replayed} of ${results.length} calls were`;
    display.note(
      `${which} delivered before and answered from the journal; none of these calls ran now. Use --again to run them again.`,
    );
  }
  for (const hint of hintsOf(results)) display.note(hint);
  const unapproved = results.filter(({ error }) => error?.code === 'approval_unavailable');
  const waiting = new Set(unapproved.flatMap(({ metadata }) => metadata.waits_for ?? []));
  for (const batch of waiting) {
    display.note(`batch ${String(batch)} waits for you: "toolexec approve ${String(batch)}"`);
  }
  noteChanged(unapproved, display);
  const unasked = unapproved.filter(({ metadata }) => metadata.waits_for === undefined).length;
  if (unasked > 0) {
    const which = unasked === 1 ? '1 call needs' : `${unasked} calls need`;
    display.note(
      `${which} approval and there is no person to ask. Run it again with ${consent}: ` +
        'calls that already have an answer are not repeated.',
    );
  }
}

/** Remedies for failures, each once; the notes below cover waiting calls. */
function hintsOf(results: readonly ToolResult[]): ReadonlySet<string> {
  const failed = results.filter(
    ({ error, metadata }) => error?.hint !== undefined && metadata.waits_for === undefined,
  );
  return new Set(failed.map(({ toolName, error }) => `${toolName}: ${asTyped(error?.hint ?? '')}`));
}
