/**
 * The form of a call in its response, if the answer depends on it. Plain JSON, so that it can be stored with
 * the calls until their results exist. Calls of the usual kind have none.
 */
export interface CallOrigin {
  readonly callId: string;
  /** The kind of item that made the call. If absent: the usual one. */
  readonly item?: CallItem;
  /** The model's name for the tool, if it differs from the tool's own. */
  readonly name?: string;
  /** The model gave no id: `callId` is made up, and the provider does not know it. */
  readonly unnamed?: true;
  /** `max_output_length` of a `shell_call`, which its answer repeats. */
  readonly maxOutputLength?: number;
  /** The program item that waits for the answer (`caller`, openai-responses). */
  readonly program?: string;
  /** The toolset of the tool (`toolset_name`, anthropic). */
  readonly toolset?: string;
}

export type CallItem =
  | 'shell_call'
  | 'local_shell_call'
  | 'apply_patch_call'
  | 'custom_tool_call'
  | 'legacy_function_call';

/** The facts from a format's reader; the id is resolved later. */
export type ItemOrigin = Omit<CallOrigin, 'callId'>;

/** The id of a call without one: its position in the response. */
export function madeUpId(index: number): string {
  return `call_${index}`;
}

const MADE_UP_ID = /^call_\d+$/;

/** If several calls share an id, their results get the origins in order; the last origin serves any further result. */
export type OriginLookup = (callId: string) => CallOrigin | undefined;

export function createOriginLookup(origins: readonly CallOrigin[]): OriginLookup {
  const waiting = new Map<string, CallOrigin[]>();
  for (const origin of origins) {
    const alike = waiting.get(origin.callId);
    if (alike === undefined) waiting.set(origin.callId, [origin]);
    else alike.push(origin);
  }
  return (callId) => {
    const alike = waiting.get(callId);
    return alike !== undefined && alike.length > 1 ? alike.shift() : alike?.[0];
  };
}

/**
 * Without the origins of a response, an id that looks made up is treated as such, because the provider may
 * not know it.
 */
export function guessOrigin(callId: string): CallOrigin | undefined {
  return MADE_UP_ID.test(callId) ? { callId, unnamed: true } : undefined;
}
