import type { ApprovalRequest } from './approval.js';

/** Options of `ask`. */
export interface TicketOptions {
  /** The ticket is valid in this conversation only. */
  readonly conversation: string;
  /** The sub-agent that makes the call, for policy rules. */
  readonly agent?: string;
  readonly signal?: AbortSignal;
  /** Asks the executor's approver at once, if it has one, and records its decision. Default false. */
  readonly askApprover?: boolean;
}

/** The answer of `ask`. */
export interface AskedTicket {
  /** Whether a person has to decide (`decide`) before the call can run. */
  readonly needed: boolean;
  /** The question for the person. Present if and only if it is needed. */
  readonly request?: ApprovalRequest;
  /** For `decide` and `run`. At most 200 characters; later processes with the same journal accept it. */
  readonly ticket: string;
  /** Present if a person has denied the call. `run` with the ticket gives the recorded refusal. */
  readonly denied?: true;
  /** The reason of the person who denied it, if one was given. */
  readonly reason?: string;
}
