import type { Disposition, Plan, PlannedCall } from '../../contract/approval.js';
import { describeEffect } from '../../effects/traits.js';
import { sanitize } from '../../output/sanitize.js';
import { cut, describeName } from './describe-call.js';
import type { Paint, Palette } from './palette.js';

/** A plan for people: a few lines a call. */
export function describePlan({ calls }: Plan, palette: Palette): string {
  if (calls.length === 0) return 'No calls.\n';
  return `${calls.map((call) => describeCall(call, palette)).join('\n\n')}\n`;
}

function describeCall(call: PlannedCall, palette: Palette): string {
  const paints: Readonly<Record<Disposition, Paint>> = {
    execute_now: palette.green,
    requires_confirmation: palette.yellow,
    pre_resolved: palette.red,
  };
  const code = call.result?.error?.code;
  const head = [
    paints[call.disposition](call.disposition),
    palette.bold(describeName(call)),
    code ?? `${call.risk} risk`,
  ];
  return [
    head.join('  '),
    ...line('summary', call.summary),
    ...call.effects.flatMap((effect) => line('effect', describeEffect(effect))),
    ...line('reason', call.reason),
  ].join('\n');
}

function line(label: string, text: string): string[] {
  return text === '' ? [] : [`  ${label.padEnd(8)} ${cut(sanitize(text, 'inline'), 500)}`];
}
