import type { ToolCall } from '../../contract/call.js';
import { NO_ARGS, type ResolvedCall } from '../call/evaluated-call.js';
import type { PlanSettings } from '../call/settings.js';
import { refuse } from './refuse.js';

const PENDING = Object.freeze({ pending: true });

/** The answer to a call in a mode that runs no tools (D012, D013); undefined if the mode evaluates calls. */
export function modeAnswer(call: ToolCall, settings: PlanSettings): ResolvedCall | undefined {
  const { mode } = settings;
  if (mode === 'enabled') return undefined;
  const pending = mode === 'parse_only';
  const message = pending
    ? `Not executed: "${call.name}" is pending, and is answered by hand.`
    : 'Tools are disabled: the call was not executed. Answer without tools.';
  const hint = `options.mode is ${mode}: ${pending ? 'answer the call, or set it to enabled' : 'set it to enabled'}.`;
  const details = pending ? undefined : { reason: 'Disabled' };
  const refusal = { code: 'tools_disabled', message, hint, details } as const;
  const refused = refuse({ ...call, args: NO_ARGS }, refusal, settings);
  return pending ? { ...refused, result: { ...refused.result, metadata: PENDING } } : refused;
}
