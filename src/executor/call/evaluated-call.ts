import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { Containment, Effect, Risk } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigins, Origin } from '../../contract/origin.js';
import type { WriteConsent } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { describeEffects, isAllReads } from '../../effects/traits.js';
import { summarizeText } from '../../output/clean-output.js';
import { originOfCall, serverOf } from '../../provenance/origin-of-call.js';

/** A call that gets its answer without running. */
export interface ResolvedCall {
  readonly kind: 'resolved';
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly reason: string;
  readonly effects: readonly PlacedEffect[];
  /** Where the data came from. Absent if that is not known, or the call was answered before its policy. */
  readonly origins?: CallOrigins | undefined;
  /**
   * The answer must not be recorded, because it comes from the journal or an earlier delivery will record it.
   */
  readonly recorded?: true;
}

export interface ReadyParts {
  /** `args` is the frozen copy that is hashed, shown and run. */
  readonly call: ToolCall;
  readonly tool: Tool;
  /** The arguments for the tool's callbacks: `args` as the tool's schema parsed them. */
  readonly parsed: unknown;
  readonly declared: readonly Effect[];
  readonly effects: readonly PlacedEffect[];
  /** The effects that the policy found in the call's commands. They are shown, but grant no access. */
  readonly seen?: readonly Effect[] | undefined;
  readonly risk: Risk;
  readonly containment: Containment;
  readonly needsApproval: boolean;
  /** The tool itself requires approval, so a review cannot remove the requirement. */
  readonly toolRequiresApproval: boolean;
  readonly reason: string;
  /** The changes that rules allow the call's commands to make. */
  readonly consent?: WriteConsent | undefined;
  /** The call's commands change real files immediately. */
  readonly writesThrough: boolean;
  /**
   * A rule allows the call only because its commands run in a transaction. They run in one, or not at all.
   * If absent: false.
   */
  readonly needsTransaction?: boolean;
  /** The person may be asked after the call's commands have ended. */
  readonly mayAskAfter: boolean;
  /**
   * The call runs without a question. The person is asked afterwards about unexpected changes; a deletion is
   * always unexpected.
   */
  readonly asksBeyond?: boolean;
  /** The call runs without a question, and the person is asked about its changes afterwards. */
  readonly asksAfter?: boolean;
  /** A person has seen the call and agreed to it. */
  readonly isAgreed?: boolean;
  /** The origins of text that may have influenced the call, as far as they were examined. */
  readonly origins?: CallOrigins | undefined;
}

/** A call that may run now, or after a person agrees. */
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
  /** The call only reads: it needs no start record, runs in a dry run too, and is safe to repeat. */
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
  #carried: Set<Origin> | undefined;

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

  /**
   * Redacted, one line, at most 200 characters. Computed on first use, because most calls run without a
   * question and are never shown.
   */
  get summary(): string {
    this.#summary ??= summarizeText(this.#describe());
    return this.#summary;
  }

  /** The origin of the call's result. */
  get origin(): readonly Origin[] {
    const { tool, declared: effects, containment } = this;
    const isProgram = tool.program !== undefined;
    const facts = { toolName: tool.name, isProgram, server: serverOf(tool), effects, containment };
    const own = originOfCall(facts);
    if (this.#carried === undefined) return own;
    return [...new Set([...own, ...this.#carried])].filter((one) => one !== 'user');
  }

  /** A sub-agent of the call has seen text of these origins, and the call's result may repeat it. */
  carry(origin: readonly Origin[]): void {
    for (const one of origin) {
      if (one === 'user') continue;
      this.#carried ??= new Set();
      this.#carried.add(one);
    }
  }

  /** Copies the call with another need for approval. */
  asking(needsApproval: boolean, reason: string): ReadyCall {
    return new ReadyCall({ ...this, needsApproval, reason }, this.#summary);
  }

  /**
   * Copies the call so that it runs without a question, and the person is asked about its changes before they
   * are committed.
   */
  askingAfter(): ReadyCall {
    return new ReadyCall({ ...this, needsApproval: false, asksAfter: true }, this.#summary);
  }

  /** Copies the call as approved by a person. */
  agreed(): ReadyCall {
    return new ReadyCall({ ...this, isAgreed: true }, this.#summary);
  }

  #describe(): string {
    try {
      const text: unknown = this.tool.summarize?.(this.parsed);
      if (typeof text === 'string') return text;
    } catch {
      // Only a call that needs a question must have the tool's own summary (D044), and its summary was made
      // earlier.
    }
    return describeEffects(this.call.name, this.declared);
  }
}

export type EvaluatedCall = ResolvedCall | ReadyCall;

/** A second run changes nothing. A call that declares no effects may not be safe to repeat. */
export function needsNoClaim(call: EvaluatedCall): boolean {
  return call.kind === 'ready' && call.onlyReads && call.declared.length > 0;
}

/** The effects that the call declared. */
function declaredEffects(evaluated: EvaluatedCall): readonly Effect[] {
  return evaluated.kind === 'ready' ? evaluated.declared : evaluated.effects.map(({ effect }) => effect);
}

/** The effects that people are shown: the declared effects, and those that the policy found. */
export function shownEffects(evaluated: EvaluatedCall): readonly Effect[] {
  const declared = declaredEffects(evaluated);
  if (evaluated.kind === 'resolved' || evaluated.seen === undefined) return declared;
  return [...declared, ...evaluated.seen];
}

/** The arguments of a call that was refused before its arguments were read. */
export const NO_ARGS: JsonObject = Object.freeze({});
