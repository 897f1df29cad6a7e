import type { PlannedCall } from '../../contract/approval.js';
import { riskOfEffects, uncontained } from '../../effects/traits.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';

const UNKNOWN: PlannedCall['origins'] = Object.freeze({ seen: Object.freeze([]), args: Object.freeze({}) });

function shownOrigins(evaluated: EvaluatedCall): PlannedCall['origins'] {
  if (evaluated.origins === undefined) return UNKNOWN;
  const { seen, args } = evaluated.origins;
  return { seen, args };
}

export function toPlannedCall(evaluated: EvaluatedCall): PlannedCall {
  const { call, reason } = evaluated;
  const effects = shownEffects(evaluated);
  const isResolved = evaluated.kind === 'resolved';
  // One literal: Node 20 takes 3 µs for four properties behind a spread.
  return {
    callId: call.id,
    toolName: call.name,
    effects,
    reason,
    origins: shownOrigins(evaluated),
    disposition: isResolved
      ? 'pre_resolved'
      : evaluated.needsApproval
        ? 'requires_confirmation'
        : 'execute_now',
    risk: isResolved ? riskOfEffects(effects) : evaluated.risk,
    containment: isResolved ? uncontained(effects) : evaluated.containment,
    summary: isResolved ? '' : evaluated.summary,
    ...(isResolved ? { result: evaluated.result } : undefined),
  };
}
