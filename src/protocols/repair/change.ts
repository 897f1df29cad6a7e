/** One thing that was wrong with a history, and is no longer. */
export interface HistoryChange {
  readonly kind: HistoryFault;
  /** As it was written; `''` where there was none. */
  readonly callId: string;
  /** The index of the message or item in the history as it came. */
  readonly at: number;
  /** What was found, and what was made of it. */
  readonly message: string;
  /** Of a `missing_result` or an `unknown_result`: whether `find` had it, or nobody knows it. */
  readonly result?: 'found' | 'unknown';
}

export type HistoryFault =
  /** A call that nothing answers. */
  | 'missing_result'
  /** A call that was answered `outcome_unknown`, or as waiting for approval, and whose real result is known now. */
  | 'unknown_result'
  /** A result that answers no call; it was taken out. */
  | 'orphan_result'
  /** One more result of a call that has one; it was taken out. */
  | 'duplicate_result'
  /** A result that did not stand where the provider looks for it. */
  | 'misplaced_result'
  /** The same call once more; it was taken out. */
  | 'duplicate_call'
  /** Another call under an id that was taken; it has one of its own now. */
  | 'reused_id'
  /** A call that nothing could answer; it has an id now. */
  | 'missing_id';
