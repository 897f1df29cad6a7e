import type { EffectKind } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolCategory } from '../../contract/tool.js';
import type { ArgumentCondition } from '../matching/argument-pattern.js';

/** `auto` runs unasked, `prompt` asks about side effects, `deny` runs only what is on the allowlist. */
export type PolicyMode = 'auto' | 'prompt' | 'deny';

export type RuleDecision = 'allow' | 'ask' | 'deny';

/** Who wrote a rule; a lower tier can only tighten what a higher one says. A program's own rules have none. */
export type RuleTier = 'administrator' | 'user' | 'project';

export interface RuleOrigin {
  readonly tier: RuleTier;
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
}

/**
 * A call that a rule is tried on. A text stands for what the rule speaks of: a command line, a path, a URL, else a
 * tool's name.
 */
export type RuleExample =
  | string
  | {
      readonly tool?: string;
      readonly effect?: EffectKind;
      readonly command?: string;
      readonly path?: string;
      readonly url?: string;
      readonly args?: JsonObject;
      readonly agent?: string;
    };

/**
 * All fields that are given have to hold; of a list, one item has to. Fields about what a call touches (`effect`,
 * `path`, `command`, `contains`, `url`) are held against each part of the call on its own.
 */
export interface PolicyRule {
  readonly decision: RuleDecision;
  /** Names or patterns (`mcp_*`); a rule about one name of a tool holds for all of them. */
  readonly tool?: string | readonly string[];
  readonly effect?: EffectKind | readonly EffectKind[];
  /** Globs over the canonical path, and over the path from a root. */
  readonly path?: string | readonly string[];
  /** Patterns over the words of a simple command: `git status *`. */
  readonly command?: string | readonly string[];
  /** Literal texts anywhere in a command's text. Not for rules that allow. */
  readonly contains?: string | readonly string[];
  /** Host patterns: `*.example.com`, `https://localhost:3000`. */
  readonly url?: string | readonly string[];
  /**
   * By JSON pointer (RFC 6901): `{ "/repo": "sandbox-*" }`. All of them have to hold. An argument that is missing, or of
   * another type, matches a rule that denies and no other.
   */
  readonly args?: Readonly<Record<string, ArgumentCondition>>;
  readonly category?: ToolCategory | readonly ToolCategory[];
  readonly side_effecting?: boolean;
  readonly idempotent?: boolean;
  /** Names or patterns of sub-agents; `main` is the conversation itself. */
  readonly agent?: string | readonly string[];
  /** The rule holds only while the policy is in this mode. */
  readonly mode?: PolicyMode | readonly PolicyMode[];
  /**
   * Only of a rule that allows. A command runs without a transaction where every part of its call is allowed by such a
   * rule: what it changes is real at once, as in a background shell.
   */
  readonly write_through?: boolean;
  /**
   * Only of a rule that allows: what a command that it allows may change, as path patterns. Left out: every path of the
   * roots that is not run later by itself; `[]`: nothing. In a transaction the rest is asked about when the command has
   * ended.
   */
  readonly writes?: string | readonly string[];
  /** Told with a refusal or a question, for people and models: what to do instead. */
  readonly reason?: string;
  /** What the rule has to match, and must not: checked when the policy is made. */
  readonly match?: RuleExample | readonly RuleExample[];
  readonly not_match?: RuleExample | readonly RuleExample[];
  readonly origin?: RuleOrigin;
}
