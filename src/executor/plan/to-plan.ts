import type { Plan, PlannedCall } from '../../contract/approval.js';
import { riskOfEffects, uncontained } from '../../effects/traits.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';

export function toPlan(evaluated: readonly EvaluatedCall[]): Plan {
  return { calls: evaluated.map(toPlannedCall) };
}

export function toPlannedCall(evaluated: EvaluatedCall): PlannedCall {
  const effects = shownEffects(evaluated);
  const common = {
    callId: evaluated.call.id,
    toolName: evaluated.call.name,
    effects,
    reason: evaluated.reason,
  };
  if (evaluated.kind === 'resolved') {
    const { result } = evaluated;
    return {
      ...common,
      disposition: 'pre_resolved',
      risk: riskOfEffects(effects),
      containment: uncontained(effects),
      summary: '',
      result,
    };
  }
  return {
    ...common,
    disposition: evaluated.needsApproval ? 'requires_confirmation' : 'execute_now',
    risk: evaluated.risk,
    containment: evaluated.containment,
    summary: evaluated.summary,
  };
}
