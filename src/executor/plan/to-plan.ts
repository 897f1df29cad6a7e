import type { Plan, PlannedCall } from '../../contract/approval.js';
import type { TracedCall } from '../../contract/telemetry.js';
import { riskOfEffects } from '../../effects/traits.js';
import { leftOutValues } from '../../journal/redaction/redacting-journal.js';
import { redact } from '../../output/redact.js';
import { type EvaluatedCall, shownEffects } from '../call/evaluated-call.js';
import type { ExecutorSettings } from '../call/settings.js';
import { toPlannedCall } from './to-planned-call.js';

export function toPlan(evaluated: readonly EvaluatedCall[]): Plan {
  return { calls: evaluated.map(toPlannedCall) };
}

/** A planned call for the readers of events and for its trace, both computed on demand. */
export function plannedParts(
  evaluated: EvaluatedCall,
  settings: Pick<ExecutorSettings, 'journal' | 'secretValues'>,
): { plan(): PlannedCall; traced(): TracedCall } {
  return { plan: () => toPlannedCall(evaluated), traced: () => toTracedCall(evaluated, settings) };
}

/**
 * A planned call for its trace, which needs neither effects nor summary. `args` is computed late, because the values
 * that the journal leaves out are known only after the call is recorded.
 */
function toTracedCall(
  evaluated: EvaluatedCall,
  { journal, secretValues }: Pick<ExecutorSettings, 'journal' | 'secretValues'>,
): TracedCall {
  const { call } = evaluated;
  const args = (): string => {
    const values = [...secretValues, ...leftOutValues(journal)];
    return redact(JSON.stringify(call.args), { values });
  };
  const named = { callId: call.id, toolName: call.name, args };
  if (evaluated.kind === 'resolved')
    return { ...named, disposition: 'pre_resolved', risk: riskOfEffects(shownEffects(evaluated)) };
  const { needsApproval, risk, tool } = evaluated;
  const disposition = needsApproval ? 'requires_confirmation' : 'execute_now';
  return { ...named, disposition, risk, description: tool.description };
}
