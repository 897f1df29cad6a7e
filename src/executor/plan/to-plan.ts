import type { Plan, PlannedCall } from '../../contract/approval.js';
import { riskOfEffects } from '../../effects/traits.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';

export function toPlan(judged: readonly EvaluatedCall[]): Plan {
  return { calls: judged.map(toPlannedCall) };
}

export function toPlannedCall(judged: EvaluatedCall): PlannedCall {
  const effects = shownEffects(judged);
  const common = { callId: judged.call.id, toolName: judged.call.name, effects, reason: judged.reason };
  if (judged.kind === 'resolved') {
    const { result } = judged;
    return { ...common, disposition: 'pre_resolved', risk: riskOfEffects(effects), summary: '', result };
  }
  return {
    ...common,
    disposition: judged.needsApproval ? 'requires_confirmation' : 'execute_now',
    risk: judged.risk,
    summary: judged.summary,
  };
}
