import type { JsonObject } from '../contract/json.js';

/** What the hooks of one event have said together. */
export interface HookOutcome {
  readonly decision: 'none' | 'allow' | 'ask' | 'deny';
  /** Why, in the words of the hook. */
  readonly reason: string;
  /** Members that the arguments get; later hooks win. */
  readonly input?: JsonObject;
  /** For the model. */
  readonly context: readonly string[];
  /** One of them said `continue: false`. */
  readonly halts: boolean;
  /** One of them said `retry: true`. */
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

/** The strictest decision counts; of two alike, the first. */
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
