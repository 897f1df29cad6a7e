import type { ErrorCode } from '../errors/catalogue.js';
import type { Disposition } from './approval.js';
import type { Effect } from './effect.js';
import type { JsonObject } from './json.js';
import type { ToolCategory } from './tool.js';

/** What a policy is told of a call. */
export interface PolicyQuestion {
  readonly name: string;
  /** The other names of the same tool: a rule about one holds for all. */
  readonly aliases?: readonly string[];
  readonly sideEffecting: boolean;
  readonly requiresApproval: boolean;
  readonly sandboxViolation?: boolean;
  /** Left out: what `command`, `path`, `file_path` and `url` among the arguments say. */
  readonly effects?: readonly Effect[];
  readonly args?: JsonObject;
  /** What the tool's schema made of `args`, where that is something else: rules about arguments look at both. */
  readonly parsedArgs?: unknown;
  /** One for each effect, in the same order: its canonical path, where it has one. */
  readonly places?: readonly { readonly at?: string }[];
  /** The sandbox's roots, canonical: what relative path patterns start from. */
  readonly roots?: readonly string[];
  /**
   * The canonical path of one that a command names, from where the command starts; undefined: it lies outside the
   * roots. Left out: paths inside commands are taken as they are written.
   */
  readonly locate?: (path: string, from: string | undefined) => string | undefined;
  /**
   * Why the sandbox would refuse a path that a command is seen to touch, from where the command starts; undefined: it
   * would not. Left out: such paths are not asked about.
   */
  readonly refusal?: (effect: PathEffect, from: string | undefined) => string | undefined;
  /**
   * The files that a wildcard of a command stands for, as the shell would list them from where the command starts; `\`
   * makes the next character plain. Undefined: that cannot be told. Left out: files cannot be looked at.
   */
  readonly expand?: (pattern: string, from: string | undefined) => readonly string[] | undefined;
  /**
   * Below a directory that a command reads, a file that the sandbox hides from tools; undefined: there is none. Left out:
   * the command sees no such file, or files cannot be looked at.
   */
  readonly hiddenBelow?: (path: string, from: string | undefined) => string | undefined;
  /**
   * Its commands run in a transaction: what they change is compared with what was allowed before it is kept. A star of a
   * rule that allows then stands for any words; else for operands and for options that are known to be harmless.
   */
  readonly transaction?: boolean;
  readonly category?: ToolCategory;
  readonly idempotent?: boolean;
  /** The sub-agent that makes the call; left out: the conversation itself, which rules call `main`. */
  readonly agent?: string;
}

/** What is read, written or deleted. */
export type PathEffect = Extract<Effect, { readonly path: string }>;

export interface PolicyAnswer {
  readonly disposition: Disposition;
  /** Present when `pre_resolved`. */
  readonly code?: ErrorCode;
  /** Of a refusal: for the model, which reads it as the answer. */
  readonly reason: string;
  /** Of a refusal: what the developer or the person can do about it. A model never sees it. */
  readonly hint?: string;
  /** Asked by a rule, or because a command is not understood: no review may lift that, as for a tool's own requirement. */
  readonly insists?: boolean;
  /**
   * What the commands of the call are seen to touch, besides what it declares: shown with the plan and the approval.
   * Relative paths start where those of the call do.
   */
  readonly seen?: readonly Effect[];
  /** What rules let its commands change. Left out: every path that is not run later by itself. */
  readonly consent?: WriteConsent;
  /** Of a call that runs: its commands need no transaction, and what they change is real at once. */
  readonly writesThrough?: true;
  /** The rule that decided, where one did, as it is named in messages. */
  readonly rule?: string;
}

/** What the rules that allow a call let its commands change; what lies beyond is asked about when they have ended. */
export interface WriteConsent {
  /** Path patterns. Left out: every path that is not run later by itself. */
  readonly patterns?: readonly string[];
  /** What the commands are seen to touch, and a rule allows by its path. Relative paths start where those of the call do. */
  readonly named: readonly Effect[];
}

/** Evaluates one call. Pure: no I/O, the same answer to the same question. */
export interface Policy {
  /** Path patterns of what is run later by itself, so that changes of it by a command are asked about. Left out: the table. */
  readonly laterCode?: readonly string[];
  decide(question: PolicyQuestion): PolicyAnswer;
  /**
   * The part of the evaluation that needs neither arguments nor effects: switched off, denylisted. Asked first, so
   * that a denylisted call is refused whatever its arguments (D041). Left out: `decide` alone evaluates.
   */
  screen?(name: string, aliases: readonly string[]): PolicyAnswer | undefined;
  /**
   * Whether every call of a tool is refused, whatever its arguments: `definitions()` leaves it out. Left out: what
   * `screen` refuses.
   */
  refuses?(name: string, aliases: readonly string[]): boolean;
}

/** A policy that is nothing but its evaluation. */
export type PolicyFunction = (question: PolicyQuestion) => PolicyAnswer;

/** What an observer sees: a call that is refused by its name alone has no effects yet. */
export type ObservedQuestion = Pick<PolicyQuestion, 'name' | 'aliases' | 'args'> & Partial<PolicyQuestion>;

/** Told of every decision of the policy (C035). Changes nothing; a throw is logged and forgotten. */
export type DecisionObserver = (question: ObservedQuestion, answer: PolicyAnswer) => void;
