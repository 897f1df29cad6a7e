import type { Effect, Risk } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import type { Picture } from '../contract/picture.js';

/** What became of a call; `waits`: for the person. */
export type PageOutcome =
  | 'ok'
  | 'failed'
  | 'ran, cancelled'
  | 'not run'
  | 'unknown'
  | 'running'
  | 'queued'
  | 'waits';

/** A call as a line of the page. Times are milliseconds since the epoch. */
export interface PageCall {
  /** Its place in the batch. */
  readonly place: number;
  readonly toolName: string;
  readonly callId: string;
  /** The picture's title and risk. */
  readonly title: string;
  readonly risk: Risk;
  readonly outcome: PageOutcome;
  readonly error?: { readonly code: string; readonly message: string };
  readonly hasSideEffects: boolean;
  /** It has side effects and ran unasked, because a rule allows it. */
  readonly isSparedByRule: boolean;
  /** A delivery of a call that another batch has. */
  readonly repeats?: string;
  readonly acceptedAt: number;
  readonly asked?: PageQuestion;
  /** When it began to run, and when it had its answer; left out where that is not known. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  /** Milliseconds that it ran. */
  readonly ranMs: number;
}

/** What a person was asked about a call. */
export interface PageQuestion {
  /** An option of a command answered, no person. */
  readonly isInAdvance: boolean;
  /** Left out: the decision is open, or came to nothing. */
  readonly decision?: {
    readonly approved: boolean;
    readonly at: number;
    readonly by?: string;
    readonly reason?: string;
  };
}

/** What is folded below the line of a call. */
export interface PageDetail {
  readonly picture: Picture;
  readonly args: JsonObject;
  /** A person has changed the arguments. */
  readonly isEdited: boolean;
  readonly effects: readonly Effect[];
  readonly disposition: string;
  readonly hint?: string;
  readonly output: string;
  readonly truncated: boolean;
  readonly outputRef?: string;
  /** What a command has changed, as its result says. */
  readonly changes: readonly { readonly kind: string; readonly paths: readonly string[] }[];
  /** Paths that the result counts and does not list. */
  readonly moreChanges?: number;
  /** The call that has undone it. */
  readonly undoneBy?: string;
}

export interface PageBatch {
  readonly id: string;
  readonly conversation: string;
  readonly at: number;
  readonly said?: string;
  readonly model?: string;
  /** Decisions about the batch as a whole. */
  readonly decisions: readonly { readonly kind: string; readonly at: number; readonly data: JsonObject }[];
  readonly calls: readonly PageCall[];
}

export interface Page {
  readonly title: string;
  /** One line below the title. */
  readonly about: string;
  readonly madeAt: number;
  /** In the order in which they stand on the page. */
  readonly batches: readonly PageBatch[];
}

/** Gives the details of some calls of a batch, by their places, in this order. */
export type LoadDetails = (batch: PageBatch, places: readonly number[]) => Promise<readonly PageDetail[]>;
