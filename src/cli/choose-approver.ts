import { parseJson } from '../base/parse-json.js';
import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { JsonObject } from '../contract/json.js';
import { describeRequest } from '../executor/approve/describe-request.js';
import { editText } from '../platform/process/edit-text.js';
import { type Keyboard, openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { ApprovalQuestion } from '../terminal/ask-approval.js';
import { type CliContext, UsageError } from './cli-context.js';
import { consentInAdvance, type GivenConsent } from './consent-in-advance.js';
import { isAutomated } from './display/display.js';
import { createPalette } from './display/terminal-text.js';
import type { ConfiguredPlace } from './later-place.js';
import { isPreview } from './preview-response.js';
import { questionScreen } from './question-screen.js';
import type { JournalChoice } from './recorded-journal.js';

interface Consent extends GivenConsent {
  readonly deny?: boolean;
}

/**
 * The approver: the options, otherwise the person at the terminal. Undefined: no approver, so a call that
 * needs approval is refused. Options only replace the question (`--yes` never lifts the denylist or the
 * sandbox).
 *
 * @param keepOpen receives the reason when an option leaves a question open
 * @throws UsageError for `--approve-later-code` if no option approves anything
 */
export function chooseApprover(
  options: Consent & JournalChoice,
  context: CliContext,
  place: ConfiguredPlace,
  keepOpen?: (why: string) => void,
): Approver | undefined {
  if (options.deny === true)
    return () => ({ kind: 'deny_all', reason: 'refused in advance (--deny)', by: '--deny' });
  if (isDecided(options)) return consentInAdvance(options, place, keepOpen);
  if (options.approveLaterCode === true)
    throw new UsageError('Cannot use --approve-later-code by itself: it widens --yes and --approve.');
  // A person who does not see the question cannot answer it.
  if (!context.stdio.stderr.isTerminal || isAutomated(context.env)) return undefined;
  return createPersonApprover(options, context, (_, signal) => {
    context.stdio.interrupt();
    return cancelled(signal);
  });
}

/** An option answers instead of the person. */
export function isDecided({ yes, deny, approve }: Consent): boolean {
  return yes === true || deny === true || approve !== undefined;
}

/** Handles a question that the person leaves without an answer, with Escape or Ctrl-C. */
export type LeaveQuestion = (how: 'cancel' | 'interrupt', signal: AbortSignal) => Promise<never>;

/** Asks at the terminal. Undefined without a keyboard. */
export function createPersonApprover(
  options: JournalChoice,
  context: CliContext,
  leave: LeaveQuestion,
): Approver | undefined {
  // Opened as a test: before the first question it must be certain that a person can answer.
  const probe = openKeyboard();
  if (probe === undefined) return undefined;
  probe.close();
  const { stdio, env } = context;
  const out = stdio.stderr;
  const palette = createPalette(true, env);
  return async (requests, { signal }) => {
    const { askApproval } = await import('../terminal/ask-approval.js');
    const keyboard = openKeyboard();
    if (keyboard === undefined) throw new Error('the terminal was closed.');
    try {
      const answer = await askApproval({
        requests,
        palette,
        signal,
        describe: describeRequest,
        screen: questionScreen(out, keyboard),
        ...editorOf(env, keyboard),
        ...(requests.every(isPreview)
          ? {}
          : {
              propose: async (request: ApprovalRequest) =>
                (await import('./propose-rule.js')).proposeRule(request, options, context),
            }),
      });
      return answer === 'cancel' || answer === 'interrupt' ? await leave(answer, signal) : answer;
    } finally {
      keyboard.close();
    }
  };
}

function editorOf(env: CliContext['env'], keyboard: Keyboard): Pick<ApprovalQuestion, 'edit'> {
  const editor = env.VISUAL || env.EDITOR;
  if (editor === undefined || editor === '') return {};
  return {
    async edit(args) {
      const before = `${JSON.stringify(args, null, 2)}\n`;
      const after = await keyboard.lend(() => editText(before, { editor, name: 'arguments.json', env }));
      if (after === before) return undefined;
      const edited: unknown = parseJson(after);
      if (isJsonObject(edited)) return edited;
      throw new Error('arguments are one JSON object.');
    },
  };
}

/** The batch was stopped, so the question needs no answer. */
function cancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
