/**
 * How a call stood in its response, where the answer has to look accordingly. Plain JSON, so that it can be kept
 * beside the calls until the results are there. Calls of a format's usual kind have none.
 */
export interface CallOrigin {
  readonly callId: string;
  /** The kind of item that asked. Left out: the format's usual one. */
  readonly item?: CallItem;
  /** What the model called the tool, where that is not the tool's own name. */
  readonly name?: string;
  /** The model gave no id: `callId` is ours, and the provider does not know it. */
  readonly unnamed?: true;
  /** `max_output_length` of a `shell_call`, which its answer repeats. */
  readonly maxOutputLength?: number;
  /** The item of the program that waits for the answer (`caller`, openai-responses). */
  readonly program?: string;
  /** The family of tools that the tool is of (`toolset_name`, anthropic). */
  readonly toolset?: string;
}

export type CallItem =
  | 'shell_call'
  | 'local_shell_call'
  | 'apply_patch_call'
  | 'custom_tool_call'
  | 'legacy_function_call';

/** What a format's reader knows of it; the id is resolved later. */
export type ItemOrigin = Omit<CallOrigin, 'callId'>;

/** The id of a call whose response gave none: its place in the response. */
export function madeUpId(index: number): string {
  return `call_${index}`;
}

const MADE_UP_ID = /^call_\d+$/;

/** Of several calls with one id each result gets its own, in order; the last stays. */
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

/** Without the origins of a response: an id that looks made up is taken for one, since the provider may not know it. */
export function guessOrigin(callId: string): CallOrigin | undefined {
  return MADE_UP_ID.test(callId) ? { callId, unnamed: true } : undefined;
}
