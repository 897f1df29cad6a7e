import type { Approver } from '../../contract/approval.js';
import type { Stdio } from '../../platform/stdio.js';
import { isAutomated } from '../show/create-display.js';
import { createPalette } from '../show/palette.js';
import { createPersonApprover } from './ask-person.js';

export interface Consent {
  readonly yes?: boolean;
  readonly approve?: readonly string[];
  readonly deny?: boolean;
}

/**
 * Who decides: the options, else the person at the terminal. Undefined: nobody, and what needs approval is refused.
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
