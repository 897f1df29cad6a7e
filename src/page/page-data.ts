import type { Effect, Risk } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import type { Picture } from '../contract/picture.js';

/** The outcome of a call; `waits`: it waits for the person's decision. */
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
  /** Its position in the batch. */
  readonly place: number;
  readonly toolName: string;
  readonly callId: string;
  /** The picture's title and risk. */
  readonly title: string;
  readonly risk: Risk;
  readonly outcome: PageOutcome;
  readonly error?: { readonly code: string; readonly message: string };
  readonly hasSideEffects: boolean;
  /** It has side effects and ran without a question, because a rule allows it. */
  readonly isSparedByRule: boolean;
  /** It repeats a call of another batch. */
  readonly repeats?: string;
  readonly acceptedAt: number;
  readonly asked?: PageQuestion;
  /** When it started and when it was answered; left out if unknown. */
  readonly startedAt?: number;
  readonly finishedAt?: number;
  /** Its run time in milliseconds. */
  readonly ranMs: number;
}

/** The question about a call. */
export interface PageQuestion {
  /** An option of a command answered it, not a person. */
  readonly isInAdvance: boolean;
  /** If absent: the decision is open, or had no effect. */
  readonly decision?: {
    readonly approved: boolean;
    readonly at: number;
    readonly by?: string;
    readonly reason?: string;
  };
}

/** The folded details of a call. */
export interface PageDetail {
  readonly picture: Picture;
  readonly args: JsonObject;
  /** A person edited the arguments. */
  readonly isEdited: boolean;
  readonly effects: readonly Effect[];
  readonly disposition: string;
  readonly hint?: string;
  readonly output: string;
  readonly truncated: boolean;
  readonly outputRef?: string;
  /** Where its text may come from. */
  readonly origin: readonly string[];
  /** The changes of a command, from its result. */
  readonly changes: readonly { readonly kind: string; readonly paths: readonly string[] }[];
  /** Paths that the result counts without listing. */
  readonly moreChanges?: number;
  /** The call that undid it. */
  readonly undoneBy?: string;
}

export interface PageBatch {
  readonly id: string;
  readonly conversation: string;
  readonly at: number;
  readonly said?: string;
  readonly model?: string;
  /** Decisions about the whole batch. */
  readonly decisions: readonly { readonly kind: string; readonly at: number; readonly data: JsonObject }[];
  readonly calls: readonly PageCall[];
}

export interface Page {
  readonly title: string;
  /** One line below the title. */
  readonly about: string;
  readonly madeAt: number;
  /** In page order. */
  readonly batches: readonly PageBatch[];
}

/** Loads the details of some calls of a batch, by position and in this order. */
export type LoadDetails = (batch: PageBatch, places: readonly number[]) => Promise<readonly PageDetail[]>;
