import type { ErrorCode } from '../errors/catalogue.js';
import type { Effect } from './effect.js';
import type { JsonObject } from './json.js';
import type { Disposition } from './plan.js';

/** What a policy is told of a call. */
export interface PolicyQuestion {
  readonly name: string;
  /** The other names of the same tool: a rule about one holds for all. */
  readonly aliases?: readonly string[];
  readonly sideEffecting: boolean;
  readonly requiresApproval: boolean;
  readonly sandboxViolation?: boolean;
  readonly effects?: readonly Effect[];
  readonly args?: JsonObject;
}

export interface PolicyAnswer {
  readonly disposition: Disposition;
  /** Present when `pre_resolved`. */
  readonly code?: ErrorCode;
  readonly reason: string;
}

/** Judges one call. Pure: no I/O, the same answer to the same question. */
export interface Policy {
  decide(question: PolicyQuestion): PolicyAnswer;
  /**
   * The part of the judgement that needs neither arguments nor effects: switched off, denylisted. Asked first, so
   * that a denylisted call is refused whatever its arguments (FR-APR-05). Left out: `decide` alone judges.
   */
  screen?(name: string, aliases: readonly string[]): PolicyAnswer | undefined;
}
