import type { ToolResult } from './call.js';
import type { CommandChanges } from './changes.js';
import type { Containment, Effect, Risk } from './effect.js';
import type { JsonObject } from './json.js';
import type { CallOrigins, Lights } from './origin.js';
import type { PicturePart } from './picture.js';
import type { Asker } from './question.js';

/** A file as it was when an approval request showed it. */
export interface ShownFile {
  /** The canonical path. */
  readonly path: string;
  /** SHA-256 of the content, in lower-case hex. */
  readonly hash: string;
}

/** The question about one call. All requests of a batch are asked together (D034). */
export interface ApprovalRequest {
  readonly callId: string;
  readonly toolName: string;
  readonly summary: string;
  readonly risk: Risk;
  readonly containment: Containment;
  readonly args: JsonObject;
  readonly effects: readonly Effect[];
  readonly reason: string;
  /**
   * The existing regular files that the call would change, with their content at the time of the question.
   * The approval is bound to them: if one changes before the decision, the call is planned and asked again.
   */
  readonly shown: readonly ShownFile[];
  /** The sub-agent that makes the call. Absent for the main conversation. */
  readonly agent?: string;
  /** The three lights that together mean data could leak. Absent while the model has seen nothing. */
  readonly lights?: Lights;
  /**
   * The details to show; `describeRequest` makes a picture of them. Absent if no files were read for the
   * question.
   */
  readonly parts?: readonly PicturePart[];
  /** Present if the call has already run and its changes wait to be committed. `parts` shows them. */
  readonly changes?: CommandChanges;
  /**
   * The paths in `changes` that go beyond the call's declaration and permission. Absent if there are none.
   */
  readonly unexpected?: readonly string[];
  /**
   * Present if the call was shown before and these files have changed since. The earlier approval does not
   * count.
   */
  readonly changed?: readonly string[];
}

export type ApprovalDecision =
  | ({ readonly kind: 'approve_all' } & Signed)
  | ({ readonly kind: 'deny_all'; readonly reason?: string } & Signed)
  | ({
      readonly kind: 'approve_selected';
      /** The calls to approve, by id. Every other call is denied. */
      readonly ids: readonly string[];
      /** New arguments by call id. They are validated and planned before the call runs. */
      readonly edits?: Readonly<Record<string, JsonObject>>;
      /** The reason for each denied call. The model sees it. */
      readonly reasons?: Readonly<Record<string, string>>;
      /** For a call that has run (`request.changes`): the changed paths to keep. If absent: all. */
      readonly paths?: Readonly<Record<string, readonly string[]>>;
    } & Signed);

/** The decider, for the journal: a name, an address, or an option of the command. */
export interface Signed {
  readonly by?: string;
}

/**
 * Asks the person. It may take any time, but must answer soon after `signal` aborts. If it throws, all calls
 * are denied.
 */
export type Approver = (
  requests: readonly ApprovalRequest[],
  options: { readonly signal: AbortSignal },
) => ApprovalDecision | Promise<ApprovalDecision>;

/** A planned call, as a reviewer sees it. */
export interface ReviewRequest extends ApprovalRequest {
  readonly disposition: 'execute_now' | 'requires_confirmation';
}

export type ReviewVerdict =
  /** Continue as planned. */
  | { readonly kind: 'pass' }
  /**
   * Run it without asking, if only the policy's mode required a question. A tool's own requirement still
   * asks.
   */
  | { readonly kind: 'allow'; readonly reason?: string }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string }
  /** Run it with other arguments. They are validated and planned first. */
  | { readonly kind: 'change'; readonly args: JsonObject; readonly reason?: string };

/**
 * Checks each call between planning and approval. Reviewers run in order, and each sees the result of the
 * previous one. If a reviewer throws, the call is denied, so a broken guard cannot let a call through.
 */
export type Reviewer = (
  request: ReviewRequest,
  options: { readonly signal: AbortSignal; readonly conversation: string },
) => ReviewVerdict | Promise<ReviewVerdict>;

export type Disposition = 'execute_now' | 'requires_confirmation' | 'pre_resolved';

/** The plan for one call (D033). */
export interface PlannedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly disposition: Disposition;
  readonly effects: readonly Effect[];
  readonly risk: Risk;
  readonly containment: Containment;
  /** For people: one line, redacted, at most 200 characters. */
  readonly summary: string;
  /** Why the call has this disposition. */
  readonly reason: string;
  /** The origins that may have influenced the call. */
  readonly origins: Pick<CallOrigins, 'seen' | 'args'>;
  /** The arguments as an approval request shows them. Present if the call requires confirmation. */
  readonly args?: JsonObject;
  readonly parts?: readonly PicturePart[];
  /** The result. Present if the call is `pre_resolved`. */
  readonly result?: ToolResult;
}

export interface Plan {
  readonly calls: readonly PlannedCall[];
}

/** The message of a call that waits for approval. Conversations keep it until `repairHistory` replaces it. */
export const WAITING_ANSWER =
  "Not run yet: it waits for the person's approval. Continue with work that does not need its result.";

/**
 * The hint for developers and users: how to decide a waiting batch, and why an earlier approval does not count.
 * @param method of the executor, for programs
 */
export function waitingHint(
  batchId: string,
  changed: readonly string[] = [],
  method: 'approve' | 'decide' = 'approve',
): string {
  const why = changed.length === 0 ? '' : `Changed since the call was shown: ${changed.join(', ')}. `;
  return `${why}Decide with "toolexec approve ${batchId}", in a program with executor.${method}().`;
}

/** Whether a text is exactly such a message, in the wording of this version or an earlier one. */
export function isWaitingAnswer(text: string): boolean {
  return text === WAITING_ANSWER || EARLIER.test(text);
}

/** Earlier versions named the batch and the command, and saved conversations still contain that text. */
const EARLIER =
  /^Not run yet: its batch waits for approval\. Decide with "toolexec approve [^"\s]+", in a program with executor\.approve\(\)\.$/;

/** The person to ask while a call runs. A member that is left out asks no person. */
export interface PersonWhileRunning {
  /** About changes that a command has made, when they are there. It gets one request with `changes`. */
  readonly approver?: Approver;
  /** For questions of tools. */
  readonly asker?: Asker;
}
