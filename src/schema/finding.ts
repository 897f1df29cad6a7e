/** One thing that is wrong with a value. */
export interface Finding {
  /** JSON Pointer of the value the message speaks of; empty for the whole. */
  readonly path: string;
  /** JSON Pointer of the value at fault: for a missing property the place where it should be. */
  readonly about: string;
  /** What was expected and what came, or which property is missing or unknown. */
  readonly message: string;
}
