/** One question to the person (C021). */
export interface Question {
  /** A few words that name it in the answer. */
  readonly header: string;
  readonly question: string;
  /** Two to four. The person may always answer in other words. */
  readonly options: readonly QuestionOption[];
  /** Several options may be chosen. */
  readonly multiSelect: boolean;
}

export interface QuestionOption {
  readonly label: string;
  readonly description?: string;
}

/** What the person said to one question. */
export interface QuestionAnswer {
  /** Labels of the options, as they stand in the question. */
  readonly chosen: readonly string[];
  /** In the person's own words. */
  readonly other?: string;
}

/** Of one call: which it is, and the sub-agent that makes it. */
export interface AskOptions {
  readonly signal: AbortSignal;
  readonly callId: string;
  /** Left out: the conversation itself. */
  readonly agent?: string;
}

/**
 * Asks the person, all questions of a call at once. One answer for each question, in order; undefined where the person
 * does not want to answer. May take as long as it likes; must answer soon after `signal` aborts.
 */
export type Asker = (
  questions: readonly Question[],
  options: AskOptions,
) => readonly QuestionAnswer[] | undefined | Promise<readonly QuestionAnswer[] | undefined>;
