import type { ToolCall } from '../../contract/call.js';
import type { EngineSettings } from '../settings.js';
import { NO_ARGS, type ResolvedCall } from './judged-call.js';
import { refuse } from './refuse.js';

const PENDING = Object.freeze({ pending: true });

/** What a mode that does not run tools answers (FR-MODE-01, FR-MODE-02); undefined when calls are to be judged. */
export function modeAnswer(call: ToolCall, settings: EngineSettings): ResolvedCall | undefined {
  const { mode } = settings;
  if (mode === 'enabled') return undefined;
  const pending = mode === 'parse_only';
  const message = pending
    ? `Tool calls are not executed here (mode parse_only): "${call.name}" is pending. Answer it by hand.`
    : 'Tools are disabled (mode disabled): the call was not executed.';
  const refused = refuse({ ...call, args: NO_ARGS }, { code: 'tools_disabled', message }, settings);
  return pending ? { ...refused, result: { ...refused.result, metadata: PENDING } } : refused;
}
