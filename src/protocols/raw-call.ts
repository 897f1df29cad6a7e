/** A call as it stands in a format, before anything in it was checked. */
export type RawCall = AskedCall | BrokenCall;

export interface AskedCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly args: unknown;
  /** What the format calls the arguments: `args`, `input`, … */
  readonly argsField: string;
  readonly reason?: unknown;
}

/** So broken that its arguments cannot be read. */
export interface BrokenCall {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly problem: string;
}
