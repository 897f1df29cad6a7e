import type { ApprovalDecision, ApprovalRequest, Approver } from '../contract/approval.js';
import type { Effect } from '../contract/effect.js';
import { sanitize } from '../output/sanitize.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { Stdio, TextOutput } from '../platform/runtime/stdio.js';
import { describeName } from './display/describe-call.js';
import { isAutomated } from './display/display.js';
import type { Palette } from './display/terminal-text.js';
import { createPalette } from './display/terminal-text.js';

interface Consent {
  readonly yes?: boolean;
  readonly approve?: readonly string[];
  readonly deny?: boolean;
}

/**
 * Who decides: the options, else the person at the terminal. Undefined: no approver, so a call that needs approval is refused.
 * No option lifts more than the question (`--yes` never lifts the denylist or the sandbox).
 */
export function chooseApprover(
  consent: Consent,
  stdio: Stdio,
  env: Readonly<Record<string, string | undefined>>,
): Approver | undefined {
  if (consent.yes === true) return inAdvance(() => ({ kind: 'approve_all' }));
  if (consent.deny === true) return () => ({ kind: 'deny_all', reason: 'refused in advance (--deny)' });
  if (consent.approve !== undefined) return inAdvance(approveThese(consent.approve));
  // Who does not see the question cannot answer it.
  if (!stdio.stderr.isTerminal || isAutomated(env)) return undefined;
  return createPersonApprover(stdio.stderr, createPalette(true, env));
}

/** Consent that was given in advance is none to files that have changed since they were shown. */
function inAdvance(approver: Approver): Approver {
  return (requests, options) => {
    const changed = requests.flatMap((request) => request.changed ?? []);
    if (changed.length === 0) return approver(requests, options);
    throw new Error(`changed since it was shown: ${changed.join(', ')}.`);
  };
}

function approveThese(ids: readonly string[]): Approver {
  return (requests) => ({
    kind: 'approve_selected',
    ids,
    reasons: Object.fromEntries(
      requests.map(({ callId }) => [callId, 'not among the approved ones (--approve)']),
    ),
  });
}

const QUESTION = 'Run these? [a]ll, [n]one, or numbers/ids (1,3): ';

/**
 * Shows every call that needs consent, all at once, and asks until the answer is understood (D034, D090).
 * Undefined when there is no keyboard to answer on. No answer (Ctrl-D) agrees to nothing.
 */
function createPersonApprover(out: TextOutput, palette: Palette): Approver | undefined {
  // Opened as a trial: before the first question it must be known that a person can answer.
  const probe = openKeyboard();
  if (probe === undefined) return undefined;
  probe.close();
  return async (requests, { signal }) => {
    const keyboard = openKeyboard();
    if (keyboard === undefined) throw new Error('the terminal has gone away.');
    try {
      out.write(describeRequests(requests, palette));
      for (;;) {
        out.write(QUESTION);
        const line = await keyboard.readLine(signal);
        if (line === undefined) return { kind: 'deny_all', reason: 'no answer was given' };
        const selection = parseSelection(line, requests);
        if (selection.kind === 'decided') return selection.decision;
        out.write(`${selection.problem}\n`);
      }
    } finally {
      keyboard.close();
    }
  };
}

function describeRequests(requests: readonly ApprovalRequest[], palette: Palette): string {
  const count = requests.length === 1 ? '1 call needs' : `${requests.length} calls need`;
  const described = requests.map((request, index) => describeRequest(request, index + 1, palette));
  return `\n${palette.bold(`${count} your approval`)}\n\n${described.join('\n\n')}\n\n`;
}

type Selection =
  | { readonly kind: 'decided'; readonly decision: ApprovalDecision }
  /** Not understood: what to tell the person before asking again. */
  | { readonly kind: 'unclear'; readonly problem: string };

/**
 * What a person typed when asked. Numbers count from 1 as they were shown and beat ids, because ids come from the
 * model. Nothing typed decides nothing.
 */
export function parseSelection(
  line: string,
  requests: readonly Pick<ApprovalRequest, 'callId'>[],
): Selection {
  const words = line.split(/[\s,]+/).filter((word) => word !== '');
  const [only] = words;
  if (only === undefined) return unclear('Type a, n, or the numbers of the calls to run.');
  if (words.length === 1 && /^(?:a|all|y|yes)$/i.test(only)) return decided({ kind: 'approve_all' });
  if (words.length === 1 && /^(?:n|no|none)$/i.test(only)) return decided({ kind: 'deny_all' });
  const ids: string[] = [];
  for (const word of words) {
    const request = /^[0-9]+$/.test(word)
      ? (requests[Number(word) - 1] ?? named(word, requests))
      : named(word, requests);
    if (request === undefined) return unclear(`There is no call ${word}.`);
    ids.push(request.callId);
  }
  return decided({ kind: 'approve_selected', ids });
}

function named<R extends Pick<ApprovalRequest, 'callId'>>(id: string, requests: readonly R[]): R | undefined {
  return requests.find(({ callId }) => callId === id);
}

function decided(decision: ApprovalDecision): Selection {
  return { kind: 'decided', decision };
}

function unclear(problem: string): Selection {
  return { kind: 'unclear', problem };
}

const MAX_COMMAND_CHARACTERS = 4000;

/** One request as lines: what is consented to must be seen whole. */
export function describeRequest(request: ApprovalRequest, number: number, palette: Palette): string {
  const summary = sanitize(request.summary, 'inline');
  const banner =
    request.risk === 'high' ? ` ${palette.bold(palette.red('⚠ HIGH RISK'))}` : ` ${request.risk} risk`;
  return [
    `${palette.bold(`${number}. ${describeName(request)}`)}${banner}`,
    `   ${summary}`,
    ...request.effects.flatMap((effect) => hiddenCommand(effect, summary)),
    `   ${palette.dim(`asked because: ${sanitize(request.reason, 'inline')}`)}`,
  ].join('\n');
}

/** A summary is cut at 200 characters; the end of a long command may be what matters. */
function hiddenCommand(effect: Effect, summary: string): string[] {
  if (effect.kind !== 'run' || summary.includes(sanitize(effect.command, 'inline'))) return [];
  const shown = effect.command.slice(0, MAX_COMMAND_CHARACTERS);
  const left = effect.command.length - shown.length;
  return [
    '   the whole command:',
    ...sanitize(shown)
      .split('\n')
      .map((line) => `   │ ${line}`),
    ...(left > 0 ? [`   │ … and ${left} characters more, which are not shown`] : []),
  ];
}
