import type { JsonObject } from './json.js';

/** One question to the person (C021). */
export interface Question {
  /** A short name for the answer. */
  readonly header: string;
  readonly question: string;
  /** Two to four options. The person can always answer in other words. */
  readonly options: readonly QuestionOption[];
  /** Several options may be chosen. */
  readonly multiSelect: boolean;
  /** The role of the question in a form. A form may have questions with more options, or none. */
  readonly form?: FormPart;
}

/**
 * `consent`: whether the person answers the following questions; the first option means yes. `field`: one
 * value, described by a JSON Schema; its options are the labels of the values in the schema.
 */
export type FormPart =
  | { readonly kind: 'consent' }
  | {
      readonly kind: 'field';
      readonly name: string;
      readonly schema: JsonObject;
      readonly required: boolean;
    };

export interface QuestionOption {
  readonly label: string;
  readonly description?: string;
}

/** The person's answer to one question. */
export interface QuestionAnswer {
  /** Labels of the chosen options, exactly as in the question. */
  readonly chosen: readonly string[];
  /** An answer in the person's own words. */
  readonly other?: string;
  /** The person refuses to answer. */
  readonly declined?: true;
}

/** The call that asks, and the sub-agent that makes it. */
export interface AskOptions {
  readonly signal: AbortSignal;
  readonly callId: string;
  /** Absent for the main conversation. */
  readonly agent?: string;
}

/**
 * Asks the person all questions of a call at once. One answer per question, in order; undefined if the person
 * does not answer it. It may take any time, but must answer soon after `signal` aborts.
 */
export type Asker = (
  questions: readonly Question[],
  options: AskOptions,
) => readonly QuestionAnswer[] | undefined | Promise<readonly QuestionAnswer[] | undefined>;
