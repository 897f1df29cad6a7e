import type { ApprovalRequest } from '../../contract/approval.js';
import type { Effect } from '../../contract/effect.js';
import { sanitize } from '../../output/sanitize.js';
import { describeName } from '../show/describe-call.js';
import type { Palette } from '../show/palette.js';

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
