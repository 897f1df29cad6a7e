import type { ApprovalRequest, Approver } from '../../contract/approval.js';
import { openKeyboard } from '../../platform/open-keyboard.js';
import type { TextOutput } from '../../platform/stdio.js';
import type { Palette } from '../show/palette.js';
import { describeRequest } from './describe-request.js';
import { parseSelection } from './parse-selection.js';

const QUESTION = 'Run these? [a]ll, [n]one, or numbers/ids (1,3): ';

/**
 * Shows every call that needs consent, all at once, and asks until the answer is understood (FR-APR-03, D090).
 * Undefined when there is no keyboard to answer on. No answer (Ctrl-D) agrees to nothing.
 */
export function createPersonApprover(out: TextOutput, palette: Palette): Approver | undefined {
  // Opened to see whether it can be: that nobody can answer must be known before anything is asked.
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
