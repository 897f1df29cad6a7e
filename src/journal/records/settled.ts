import type { ToolResult } from '../../contract/call.js';
import type { BatchDecision, CallRecord } from '../../contract/journal.js';

/** The statement in a batch's last decision about a call with an unknown outcome. */
export function settledBy(
  decision: BatchDecision | undefined,
  callId: string,
  result: ToolResult | undefined,
): Pick<CallRecord, 'settled'> {
  if (decision?.kind !== 'resume' || result?.error?.code !== 'outcome_unknown') return {};
  const { settled } = decision.data;
  if (typeof settled !== 'object' || settled === null || Array.isArray(settled)) return {};
  const verdict = Object.hasOwn(settled, callId) ? (settled as Record<string, unknown>)[callId] : undefined;
  return verdict === 'applied' || verdict === 'not_applied' ? { settled: verdict } : {};
}
