/** Time as a value: tests bring their own. */
export interface Clock {
  /** Milliseconds since the epoch, for what is recorded. */
  now(): number;
  /** Milliseconds that never jump back, for durations. */
  monotonic(): number;
  /** Calls back once after `delayMs`; the returned function takes it back. */
  after(delayMs: number, callback: () => void): () => void;
}
