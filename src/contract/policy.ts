import type { ErrorCode } from '../errors/catalogue.js';
import type { Disposition } from './approval.js';
import type { Effect } from './effect.js';
import type { JsonObject } from './json.js';
import type { CallOrigins } from './origin.js';
import type { ToolCategory } from './tool.js';

/** The paths that run later by themselves. */
export interface LaterPaths {
  /** Whether a path is one of them, or a directory with some of them. */
  lies(path: string, roots: readonly string[]): boolean;
}

/** The facts about a call that a policy decides on. */
export interface PolicyQuestion {
  readonly name: string;
  /** Other names of the tool. A rule for one name applies to all. */
  readonly aliases?: readonly string[];
  readonly sideEffecting: boolean;
  readonly requiresApproval: boolean;
  readonly sandboxViolation?: boolean;
  /** If absent: the policy derives them from the arguments `command`, `path`, `file_path` and `url`. */
  readonly effects?: readonly Effect[];
  readonly args?: JsonObject;
  /** The arguments after the tool's schema, if they differ from `args`. Rules about arguments check both. */
  readonly parsedArgs?: unknown;
  /** One entry per effect, in the same order: its canonical path, if it has one. */
  readonly places?: readonly { readonly at?: string }[];
  /** The sandbox's roots, canonical. Relative path patterns start there. */
  readonly roots?: readonly string[];
  /**
   * Gives the canonical path of a path in a command, relative to the command's directory; undefined outside
   * the roots. If absent: paths in commands are compared as written.
   */
  readonly locate?: (path: string, from: string | undefined) => string | undefined;
  /**
   * Why the sandbox would refuse a path that a command touches; undefined if it would not. If absent: such
   * paths are not checked.
   */
  readonly refusal?: (effect: PathEffect, from: string | undefined) => string | undefined;
  /**
   * Expands a wildcard of a command as the shell would in its directory; `\` quotes the next character.
   * Undefined if that is not known. If absent: the file system cannot be read.
   */
  readonly expand?: (pattern: string, from: string | undefined) => readonly string[] | undefined;
  /**
   * A file below a directory that a command reads, if the sandbox hides that file from tools; undefined if there is
   * none. If absent: the command sees no such file, or files cannot be looked at.
   */
  readonly hiddenBelow?: (path: string, from: string | undefined) => string | undefined;
  /**
   * The other names of a canonical path under which it runs later by itself, through links and settings of git in the
   * directories above it. If absent: the file system cannot be read.
   */
  readonly laterNames?: (path: string, later: LaterPaths) => readonly string[];
  /**
   * Its commands run in a transaction, so their changes are compared with the allowed ones before they are
   * kept. A star in an allowing rule then stands for any words; otherwise it stands for operands and for
   * options that are known to be harmless.
   */
  readonly transaction?: boolean;
  /** The origins of the data that may have influenced the call. If absent: unknown. */
  readonly origins?: CallOrigins;
  /** The commands of the call can reach the network. */
  readonly network?: boolean;
  readonly category?: ToolCategory;
  readonly idempotent?: boolean;
  /** The sub-agent that makes the call; left out: the conversation itself, which rules call `main`. */
  readonly agent?: string;
}

/** An effect on a path: it is read, written or deleted. */
export type PathEffect = Extract<Effect, { readonly path: string }>;

export interface PolicyAnswer {
  readonly disposition: Disposition;
  /** Present when `pre_resolved`. */
  readonly code?: ErrorCode;
  /** For a refusal: the answer that the model reads. */
  readonly reason: string;
  /** For a refusal: a remedy for the developer or the person. A model never sees it. */
  readonly hint?: string;
  /**
   * The question comes from a rule, or the command was not understood. A review cannot lift it, as with a
   * tool's own requirement.
   */
  readonly insists?: boolean;
  /**
   * The effects that the analysis finds in the commands, besides the declared ones. The plan and the approval
   * show them. Relative paths start at the call's directory.
   */
  readonly seen?: readonly Effect[];
  /**
   * The paths that rules allow the commands to change. If absent: every path that does not run later by
   * itself.
   */
  readonly consent?: WriteConsent;
  /** The commands of the call need no transaction: their changes take effect at once. */
  readonly writesThrough?: true;
  /** The rule that decided, as messages name it. Absent if no rule decided. */
  readonly rule?: string;
}

/**
 * The paths that the allowing rules let the commands change. Other changes are asked about when the commands
 * have ended.
 */
export interface WriteConsent {
  /** Path patterns. If absent: every path that does not run later by itself. */
  readonly patterns?: readonly string[];
  /**
   * The effects found in the commands that a rule allows by path. Relative paths start at the call's
   * directory.
   */
  readonly named: readonly Effect[];
}

/** Decides on one call. Pure: no I/O, and the same question always gets the same answer. */
export interface Policy {
  /**
   * Path patterns of files that run later by themselves; changes to them by a command are asked about. Left
   * out: the built-in table.
   */
  readonly laterCode?: readonly string[];
  /** False: no decision depends on the place of text in an argument, so results are not searched. If absent: true. */
  readonly searchesOrigins?: boolean;
  decide(question: PolicyQuestion): PolicyAnswer;
  /**
   * The part of the decision that needs neither arguments nor effects: policy switched off, tool denylisted.
   * It comes first, so a denylisted call is refused with any arguments (D041). If absent: only `decide`
   * decides.
   */
  screen?(name: string, aliases: readonly string[]): PolicyAnswer | undefined;
  /**
   * Whether every call of a tool is refused, with any arguments. `definitions()` leaves such a tool out. Left
   * out: the tools that `screen` refuses.
   */
  refuses?(name: string, aliases: readonly string[]): boolean;
}

/** A policy that consists only of its decision function. */
export type PolicyFunction = (question: PolicyQuestion) => PolicyAnswer;

/** The question as an observer sees it. A call that is refused by name has no effects yet. */
export type ObservedQuestion = Pick<PolicyQuestion, 'name' | 'aliases' | 'args'> & Partial<PolicyQuestion>;

/**
 * Called with every decision of the policy (C035). It changes nothing; if it throws, that is logged and
 * ignored.
 */
export type DecisionObserver = (question: ObservedQuestion, answer: PolicyAnswer) => void;
