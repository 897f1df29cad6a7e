import type { JsonObject } from '../contract/json.js';
import type { Awaitable } from '../contract/tool.js';

/** A batch that is killed, again and again, while it runs. */
export interface CrashTrial {
  /**
   * The module of the tools under trial: an absolute path or a `file:` URL. Its default export (or `tools`, or
   * `tool`) is a tool, a list of tools, or a function that gives them. It is imported by every process that is
   * killed, and by this one, which settles what they leave behind. `calls`, `prepare`, `observe` and `knowable` may
   * be exported by it as well, and hold where they are left out here.
   */
  readonly tools: string | URL;
  /** One batch: the calls in order. An id that is left out is made up. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly args: JsonObject }[];
  /** Lays out the root directory before each round. */
  readonly prepare?: (root: string) => Awaitable<void>;
  /**
   * How often the effect of each call has happened in the world, by call id: 0 or 1 if all is well, a fraction when
   * it is half done. A call that is not named is not looked at.
   */
  readonly observe?: (root: string) => Awaitable<Readonly<Record<string, number>>>;
  /**
   * Ids of calls whose outcome must be known after every crash, because their tool can `probe`: an `outcome_unknown`
   * of theirs is a problem. Default: none.
   */
  readonly knowable?: readonly string[];
  /** Whether calls that do not conflict run side by side. Default false. */
  readonly parallel?: boolean;
  /** Kills at random instants, on top of the two at each step of the journal (before and after it). Default 20. */
  readonly randomKills?: number;
  /** At most so many kills at steps of the journal, spread over them. Default: all. */
  readonly stepKills?: number;
  /** Makes the random instants the same every time. Default: others every time; the verdict says which. */
  readonly seed?: number;
  /** Told after every round, for a progress display. */
  readonly onRound?: (done: number, of: number) => void;
  /** Ends the trial; what has been seen so far is the verdict. */
  readonly signal?: AbortSignal;
}

export type CrashProblemKind =
  /** A call has no result after recovery. */
  | 'no_result'
  /** A call was answered differently later. */
  | 'changed_result'
  /** An effect happened more than once. */
  | 'ran_twice'
  /** An effect was left half done. */
  | 'half_done'
  /** The result says something else than what happened. */
  | 'untrue_result'
  /** `outcome_unknown`, where it could be known. */
  | 'needless_unknown'
  /** What the journal had acknowledged is gone. */
  | 'lost_record'
  /** The journal's chain does not hold. */
  | 'broken_journal'
  /** A process did not do what it was started for: it failed by itself, or hung. */
  | 'broken_round';

export interface CrashProblem {
  readonly kind: CrashProblemKind;
  /** Where it was killed: `before step 3 (claim)`, `after 4.2 ms`. */
  readonly killed: string;
  readonly callId?: string;
  readonly message: string;
}

export interface CrashVerdict {
  /** No problem was seen, and something was killed. */
  readonly passed: boolean;
  /** Processes that were killed while they ran the batch. */
  readonly kills: number;
  /** Rounds in all; in some the batch had ended before the kill. */
  readonly rounds: number;
  /** How often each answer was given after a crash: `ok`, or the code of the error. */
  readonly answers: Readonly<Record<string, number>>;
  readonly problems: readonly CrashProblem[];
  readonly seed: number;
  /** For people, several lines. */
  readonly report: string;
}
