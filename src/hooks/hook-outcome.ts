import type { JsonObject } from '../contract/json.js';

/** The combined answers of the hooks of one event. */
export interface HookOutcome {
  readonly decision: 'none' | 'allow' | 'ask' | 'deny';
  /** The reason, in the hook's words. */
  readonly reason: string;
  /** Members to merge into the arguments; later hooks win. */
  readonly input?: JsonObject;
  /** For the model. */
  readonly context: readonly string[];
  /** One of them answered `continue: false`. */
  readonly halts: boolean;
  /** One of them answered `retry: true`. */
  readonly retries: boolean;
}

export const NOTHING: HookOutcome = {
  decision: 'none',
  reason: '',
  context: [],
  halts: false,
  retries: false,
};
const ORDER = ['none', 'allow', 'ask', 'deny'] as const;

/** The strictest decision counts; of two equal ones, the first. */
export function together(one: HookOutcome, other: HookOutcome): HookOutcome {
  const { decision, reason } = ORDER.indexOf(one.decision) >= ORDER.indexOf(other.decision) ? one : other;
  const input = one.input === undefined ? other.input : { ...one.input, ...other.input };
  return {
    decision,
    reason,
    context: [...one.context, ...other.context],
    halts: one.halts || other.halts,
    retries: one.retries || other.retries,
    ...(input === undefined ? {} : { input }),
  };
}
