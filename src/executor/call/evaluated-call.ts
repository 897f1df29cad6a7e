import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Containment, Effect, Risk } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigins, Origin } from '../../contract/origin.js';
import type { WriteConsent } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { describeEffects, isAllReads } from '../../effects/traits.js';
import { summarizeText } from '../../output/clean-output.js';
import { originOfCall } from '../../provenance/origin-of-call.js';

/** A call that is answered without running. */
export interface ResolvedCall {
  readonly kind: 'resolved';
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly reason: string;
  readonly effects: readonly PlacedEffect[];
  /** Its answer is not to be recorded: it is the journal's own, or comes there from an earlier delivery. */
  readonly recorded?: true;
}

export interface ReadyParts {
  /** `args` are the frozen copy: exactly what will be hashed, asked for and run. */
  readonly call: ToolCall;
  readonly tool: Tool;
  /** What the tool's callbacks get: `args` as its schema parsed them. */
  readonly parsed: unknown;
  readonly declared: readonly Effect[];
  readonly effects: readonly PlacedEffect[];
  /** What the policy has seen its commands touch: shown, and nothing is granted by it. */
  readonly seen?: readonly Effect[] | undefined;
  readonly risk: Risk;
  readonly containment: Containment;
  readonly needsApproval: boolean;
  /** The tool itself requires it, so that no review may lift it. */
  readonly toolRequiresApproval: boolean;
  readonly reason: string;
  /** What rules let its commands change. */
  readonly consent?: WriteConsent | undefined;
  /** Its commands change what is real at once. */
  readonly writesThrough: boolean;
  /** A rule allows it as what runs in a transaction: its commands run in one, or not at all. Left out: false. */
  readonly needsTransaction?: boolean;
  /** It may be asked for when its commands have ended. */
  readonly mayAskAfter: boolean;
  /** It runs unasked, and is asked for where its commands went beyond what was to be expected; a deletion does. */
  readonly asksBeyond?: boolean;
  /** It is, and not before. */
  readonly asksAfter?: boolean;
  /** A person has seen it, and said yes. */
  readonly isAgreed?: boolean;
  /** What may have steered it, as far as it was looked at. */
  readonly origins?: CallOrigins | undefined;
}

/** A call that may run, or may after a person has agreed. */
export class ReadyCall {
  readonly kind = 'ready';
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly parsed: unknown;
  readonly declared: readonly Effect[];
  readonly effects: readonly PlacedEffect[];
  readonly seen: readonly Effect[] | undefined;
  readonly risk: Risk;
  readonly containment: Containment;
  readonly needsApproval: boolean;
  readonly toolRequiresApproval: boolean;
  readonly reason: string;
  /** Nothing but reads: no start record, no dry run, no harm in repeating it. */
  readonly onlyReads: boolean;
  readonly consent: WriteConsent | undefined;
  readonly writesThrough: boolean;
  readonly needsTransaction: boolean;
  readonly mayAskAfter: boolean;
  readonly asksBeyond: boolean;
  readonly asksAfter: boolean;
  readonly isAgreed: boolean;
  readonly origins: CallOrigins | undefined;
  #summary: string | undefined;

  constructor(parts: ReadyParts, summary?: string) {
    this.call = parts.call;
    this.tool = parts.tool;
    this.parsed = parts.parsed;
    this.declared = parts.declared;
    this.effects = parts.effects;
    this.seen = parts.seen;
    this.risk = parts.risk;
    this.containment = parts.containment;
    this.needsApproval = parts.needsApproval;
    this.toolRequiresApproval = parts.toolRequiresApproval;
    this.reason = parts.reason;
    this.onlyReads = isAllReads(parts.declared);
    this.consent = parts.consent;
    this.writesThrough = parts.writesThrough;
    this.needsTransaction = parts.needsTransaction === true;
    this.mayAskAfter = parts.mayAskAfter;
    this.asksBeyond = parts.asksBeyond === true;
    this.asksAfter = parts.asksAfter === true;
    this.isAgreed = parts.isAgreed === true;
    this.origins = parts.origins;
    this.#summary = summary;
  }

  /** Redacted, one line, at most 200 characters. Made at the first look: most calls run unasked and unseen. */
  get summary(): string {
    this.#summary ??= summarizeText(this.#describe());
    return this.#summary;
  }

  /** Where its result comes from. */
  get origin(): readonly Origin[] {
    const { tool, declared: effects, containment } = this;
    return originOfCall({ toolName: tool.name, isProgram: tool.program !== undefined, effects, containment });
  }

  /** The same call, asked for or not. */
  asking(needsApproval: boolean, reason: string): ReadyCall {
    return new ReadyCall({ ...this, needsApproval, reason }, this.#summary);
  }

  /** The same call, which runs unasked, and whose changes are asked for before they become real. */
  askingAfter(): ReadyCall {
    return new ReadyCall({ ...this, needsApproval: false, asksAfter: true }, this.#summary);
  }

  /** The same call, to which a person has agreed. */
  agreed(): ReadyCall {
    return new ReadyCall({ ...this, isAgreed: true }, this.#summary);
  }

  #describe(): string {
    try {
      const text: unknown = this.tool.summarize?.(this.parsed);
      if (typeof text === 'string') return text;
    } catch {
      // Only a call that is asked for has to have the tool's own words (D044); that one was asked for them before.
    }
    return describeEffects(this.call.name, this.declared);
  }
}

export type EvaluatedCall = ResolvedCall | ReadyCall;

/** What the call says it will touch, as it said it. */
function declaredEffects(evaluated: EvaluatedCall): readonly Effect[] {
  return evaluated.kind === 'ready' ? evaluated.declared : evaluated.effects.map(({ effect }) => effect);
}

/** What people are shown of it: what it said, and what the policy has seen besides. */
export function shownEffects(evaluated: EvaluatedCall): readonly Effect[] {
  const declared = declaredEffects(evaluated);
  if (evaluated.kind === 'resolved' || evaluated.seen === undefined) return declared;
  return [...declared, ...evaluated.seen];
}

/** The arguments of a call that never got as far as having any. */
export const NO_ARGS: JsonObject = Object.freeze({});
