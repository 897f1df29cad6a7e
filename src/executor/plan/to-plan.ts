import type { Plan, PlannedCall } from '../../contract/approval.js';
import type { TracedCall } from '../../contract/telemetry.js';
import { riskOfEffects, uncontained } from '../../effects/traits.js';
import { leftOutValues } from '../../journal/redaction/redacting-journal.js';
import { redact } from '../../output/redact.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';
import type { ExecutorSettings } from '../call/settings.js';

export function toPlan(evaluated: readonly EvaluatedCall[]): Plan {
  return { calls: evaluated.map(toPlannedCall) };
}

const UNKNOWN: PlannedCall['origins'] = Object.freeze({ seen: Object.freeze([]), args: Object.freeze({}) });

function shownOrigins(evaluated: EvaluatedCall): PlannedCall['origins'] {
  if (evaluated.kind === 'resolved' || evaluated.origins === undefined) return UNKNOWN;
  const { seen, args } = evaluated.origins;
  return { seen, args };
}

export function toPlannedCall(evaluated: EvaluatedCall): PlannedCall {
  const effects = shownEffects(evaluated);
  const common = {
    callId: evaluated.call.id,
    toolName: evaluated.call.name,
    effects,
    reason: evaluated.reason,
    origins: shownOrigins(evaluated),
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

/**
 * The parts of a call that its trace needs besides the plan. `args` is computed late, because the values that
 * the journal leaves out are known only after the call is recorded.
 */
export function tracedParts(
  evaluated: EvaluatedCall,
  { journal, secretValues }: Pick<ExecutorSettings, 'journal' | 'secretValues'>,
): Pick<TracedCall, 'description' | 'args'> {
  const args = (): string => {
    const values = [...secretValues, ...leftOutValues(journal)];
    return redact(JSON.stringify(evaluated.call.args), { values });
  };
  return evaluated.kind === 'ready' ? { description: evaluated.tool.description, args } : { args };
}
