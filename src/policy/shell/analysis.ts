import type { Effect } from '../../contract/effect.js';

/** What a command line would do, as far as its text tells. */
export interface CommandAnalysis {
  /** `block`: destroys the machine. `ask`: not understood for certain. `allow`: understood; it approves nothing. */
  readonly verdict: 'allow' | 'ask' | 'block';
  readonly reasons: readonly string[];
  /** Every simple command, as words. */
  readonly commands: readonly (readonly string[])[];
  readonly effects: readonly Effect[];
}

/** Understands a command line; `sh` is any that may be called so, of which the strictest reading counts. Pure; never throws. */
export type AnalyzeCommand = (text: string, shell?: 'bash' | 'sh') => CommandAnalysis;
