/** What one part of the machine is good for. */
export interface Check {
  readonly name: string;
  /** `broken`: no call can be run. `missing`: something works less well, or not at all. */
  readonly state: 'ok' | 'missing' | 'broken';
  /** What is there. */
  readonly found: string;
  /** What its absence costs, and how to get it; there unless all is well. */
  readonly costs?: string;
  readonly remedy?: string;
}
