import type { ToolResult } from './call.js';
import type { CommandChanges } from './changes.js';
import type { Containment, Effect, Risk } from './effect.js';
import type { JsonObject } from './json.js';
import type { PicturePart } from './picture.js';

/** The content that a request was shown with. */
export interface ShownFile {
  /** Canonical. */
  readonly path: string;
  /** SHA-256 of the content, lower-case hex. */
  readonly hash: string;
}

/** What the person is asked, once per call that needs it, all of a batch together (D034). */
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
   * The regular files that the call would change, as they are when it is asked for; one that is not there is left out.
   * Consent is bound to them: when they have changed before the decision, the call is planned and asked for again.
   */
  readonly shown: readonly ShownFile[];
  /** The sub-agent that makes the call. Left out: the conversation itself. */
  readonly agent?: string;
  /** What there is to see of it: `describeRequest` makes a picture of them. Left out where nothing was looked at. */
  readonly parts?: readonly PicturePart[];
  /**
   * Present where the call has run, and the question is whether its changes become real: what was changed. `parts` show
   * it.
   */
  readonly changes?: CommandChanges;
  /** Of these changes the paths that go beyond what the call declared and was allowed. Left out: none does. */
  readonly unexpected?: readonly string[];
  /** Present where the call was shown before and these files have changed since: an agreement of then is none to this. */
  readonly changed?: readonly string[];
}

export type ApprovalDecision =
  | ({ readonly kind: 'approve_all' } & Signed)
  | ({ readonly kind: 'deny_all'; readonly reason?: string } & Signed)
  | ({
      readonly kind: 'approve_selected';
      /** Call ids; a call that is not named is denied. */
      readonly ids: readonly string[];
      /** Other arguments for a call: validated and planned again before it runs. */
      readonly edits?: Readonly<Record<string, JsonObject>>;
      /** Told to the model for a denied call. */
      readonly reasons?: Readonly<Record<string, string>>;
    } & Signed);

/** Who has decided, for the journal: a name, an address, the option of a command. */
export interface Signed {
  readonly by?: string;
}

/**
 * Asks the person. May take as long as it likes; must answer soon after `signal` aborts. A throw denies all.
 */
export type Approver = (
  requests: readonly ApprovalRequest[],
  options: { readonly signal: AbortSignal },
) => ApprovalDecision | Promise<ApprovalDecision>;

/** What a reviewer sees of a planned call. */
export interface ReviewRequest extends ApprovalRequest {
  readonly disposition: 'execute_now' | 'requires_confirmation';
}

export type ReviewVerdict =
  /** Go on as planned. */
  | { readonly kind: 'pass' }
  /** Run it without asking, where only the policy's mode asked; never lifts a tool's own requirement. */
  | { readonly kind: 'allow'; readonly reason?: string }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'ask'; readonly reason?: string }
  /** Run it with other arguments: they are validated and planned again. */
  | { readonly kind: 'change'; readonly args: JsonObject; readonly reason?: string };

/**
 * Stands between plan and approval. Reviewers are asked in order, each sees what the one before it left.
 * A throw denies the call: a guard that fails must not open the gate.
 */
export type Reviewer = (
  request: ReviewRequest,
  options: { readonly signal: AbortSignal },
) => ReviewVerdict | Promise<ReviewVerdict>;

export type Disposition = 'execute_now' | 'requires_confirmation' | 'pre_resolved';

/** What would happen to one call (D033). */
export interface PlannedCall {
  readonly callId: string;
  readonly toolName: string;
  readonly disposition: Disposition;
  readonly effects: readonly Effect[];
  readonly risk: Risk;
  readonly containment: Containment;
  /** For people: redacted, one line, at most 200 characters. */
  readonly summary: string;
  /** Why this disposition. */
  readonly reason: string;
  /** As of an approval request, where the call requires confirmation. */
  readonly args?: JsonObject;
  readonly parts?: readonly PicturePart[];
  /** The answer, when the call is `pre_resolved`. */
  readonly result?: ToolResult;
}

export interface Plan {
  readonly calls: readonly PlannedCall[];
}

/** How a call is answered while it waits for approval. A conversation keeps these words until they are mended. */
export const WAITING_ANSWER =
  "Not run yet: it waits for the person's approval. Go on with what does not need its result.";

/** For the developer and the person: how such a batch is decided. */
export function waitingHint(batchId: string): string {
  return `Decide with "toolexec approve ${batchId}", in a program with executor.approve().`;
}

/** Whether a text is such an answer, as it is written now or was by earlier versions, and nothing else. */
export function isWaitingAnswer(text: string): boolean {
  return text === WAITING_ANSWER || EARLIER.test(text);
}

/** Earlier versions named the batch and the command in it, and saved conversations hold it. */
const EARLIER =
  /^Not run yet: its batch waits for approval\. Decide with "toolexec approve [^"\s]+", in a program with executor\.approve\(\)\.$/;
