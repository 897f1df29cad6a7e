import type { PlannedCall } from '../../contract/approval.js';
import { riskOfEffects, uncontained } from '../../effects/traits.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';

const UNKNOWN: PlannedCall['origins'] = Object.freeze({ seen: Object.freeze([]), args: Object.freeze({}) });

function shownOrigins(evaluated: EvaluatedCall): PlannedCall['origins'] {
  if (evaluated.kind === 'resolved' || evaluated.origins === undefined) return UNKNOWN;
  const { seen, args } = evaluated.origins;
  return { seen, args };
}

export function toPlannedCall(evaluated: EvaluatedCall): PlannedCall {
  const { call, reason } = evaluated;
  const effects = shownEffects(evaluated);
  const named = { callId: call.id, toolName: call.name, effects, reason, origins: shownOrigins(evaluated) };
  if (evaluated.kind === 'resolved') {
    return {
      ...named,
      disposition: 'pre_resolved',
      risk: riskOfEffects(effects),
      containment: uncontained(effects),
      summary: '',
      result: evaluated.result,
    };
  }
  const { needsApproval, risk, containment, summary } = evaluated;
  const disposition = needsApproval ? 'requires_confirmation' : 'execute_now';
  return { ...named, disposition, risk, containment, summary };
}
