import { sanitize } from '../../output/sanitize.js';
import type { TextOutput } from '../../platform/stdio.js';
import { describeName, describeResult } from './describe-call.js';
import type { Display } from './display.js';
import type { Palette } from './palette.js';

/** For files, pipes and machines: a line when a call starts, and one when it ends. */
export function createPlainDisplay(out: TextOutput, palette: Palette): Display {
  const summaries = new Map<string, string>();
  const line = (text: string): void => out.write(`${text}\n`);
  return {
    event(event) {
      if (event.type === 'planned') summaries.set(event.callId, sanitize(event.plan.summary, 'inline'));
      if (event.type === 'started') {
        line(`${palette.dim('▸')} ${describeName(event)} ${summaries.get(event.callId) ?? ''}`.trimEnd());
      }
      if (event.type === 'completed') line(describeResult(event.result, palette));
    },
    note: (message) => line(`toolexec: ${sanitize(message, 'inline')}`),
    end() {},
  };
}
