import type { EffectKind } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { OptionsIn } from '../../contract/settings.js';
import type { ToolCategory } from '../../contract/tool.js';
import type { ArgumentCondition } from '../matching/argument-pattern.js';

/** `auto` never asks, `prompt` asks about side effects, `deny` runs only tools on the allowlist. */
export type PolicyMode = NonNullable<OptionsIn<'executor.policy'>['mode']>;

export type RuleDecision = 'allow' | 'ask' | 'deny';

/** The author of a rule; a lower tier can only tighten a higher one. A program's own rules have none. */
export type RuleTier = 'administrator' | 'user' | 'project';

export interface RuleOrigin {
  readonly tier: RuleTier;
  readonly file?: string;
  /** Counted from 1. */
  readonly line?: number;
}

/**
 * A call to test a rule with. A text is an example of the rule's subject: a command line, a path, a URL, or a
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
 * All given fields must match; in a list, one item. Fields about effects (`effect`, `path`, `command`,
 * `contains`, `url`) are compared with each part of the call separately.
 */
export interface PolicyRule {
  readonly decision: RuleDecision;
  /** Names or patterns (`mcp_*`). A rule for one name of a tool applies to all of them. */
  readonly tool?: string | readonly string[];
  readonly effect?: EffectKind | readonly EffectKind[];
  /** Globs for the canonical path, and for the path from a root. */
  readonly path?: string | readonly string[];
  /** Patterns for the words of a simple command: `git status *`. */
  readonly command?: string | readonly string[];
  /** Literal text anywhere in a command. Not for allowing rules. */
  readonly contains?: string | readonly string[];
  /** Host patterns: `*.example.com`, `https://localhost:3000`. */
  readonly url?: string | readonly string[];
  /**
   * By JSON pointer (RFC 6901): `{ "/repo": "sandbox-*" }`. All must match. A missing argument, or one of
   * another type, matches only rules that deny.
   */
  readonly args?: Readonly<Record<string, ArgumentCondition>>;
  /**
   * Patterns of origins, such as `web:*`: the model has seen data from one of them since the conversation was last
   * marked clean.
   */
  readonly data_from?: string | readonly string[];
  /** By JSON pointer, patterns of origins: the argument contains text from one of them. All must match. */
  readonly args_from?: Readonly<Record<string, string | readonly string[]>>;
  readonly category?: ToolCategory | readonly ToolCategory[];
  readonly side_effecting?: boolean;
  readonly idempotent?: boolean;
  /** Names or patterns of sub-agents; `main` is the main conversation. */
  readonly agent?: string | readonly string[];
  /** The rule applies only in this mode of the policy. */
  readonly mode?: PolicyMode | readonly PolicyMode[];
  /**
   * Only for allowing rules. A command runs without a transaction if such a rule allows every part of its
   * call: its changes take effect immediately, as in a background shell.
   */
  readonly write_through?: boolean;
  /**
   * Only for allowing rules: path patterns that the allowed command may change. Default: every path of the
   * roots that does not run later by itself; `[]`: nothing. In a transaction, other changes are asked about
   * when the command has ended.
   */
  readonly writes?: string | readonly string[];
  /** Shown with a refusal or question, for people and models: the alternative. */
  readonly reason?: string;
  /** Examples that the rule must match, or must not: tested when the policy is created. */
  readonly match?: RuleExample | readonly RuleExample[];
  readonly not_match?: RuleExample | readonly RuleExample[];
  readonly origin?: RuleOrigin;
}
