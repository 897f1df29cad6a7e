import { normalizeOptions, option } from '../base/normalize-options.js';
import type { Policy, PolicyAnswer, PolicyQuestion } from '../contract/policy.js';
import { ToolError } from '../errors/tool-error.js';
import { type CompiledPolicy, compilePolicy, refusesName } from './compile-policy.js';
import { checkExamples } from './evaluation/check-examples.js';
import { Evaluation, entryOf, type PolicyBasis } from './evaluation/evaluation.js';
import { ORDER } from './evaluation/order.js';
import { RuleIndex } from './evaluation/rule-index.js';
import { type Explanation, explainDecision } from './explain/explain-decision.js';
import { findProblems, type KnownTool } from './explain/find-problems.js';
import type { CompiledRule } from './rules/compile-rule.js';
import type { PolicyOptions } from './rules/policy-options.js';
import type { AnalyzeCommand } from './shell/analysis.js';

/** What a policy is given besides its options. */
export interface PolicyParts {
  /** Left out: commands are not analysed, and command rules match single plain commands only. */
  readonly analyzeCommand?: AnalyzeCommand | undefined;
}

/** A policy of rules, which can say why. */
export interface RulePolicy extends Policy {
  screen(name: string, aliases?: readonly string[]): PolicyAnswer | undefined;
  /** Whether no arguments can let a call of the tool pass. */
  refuses(name: string, aliases?: readonly string[]): boolean;
  minds(question: PolicyQuestion): boolean;
  /** The decision, the rule that made it, and what became of every other rule. */
  explain(question: PolicyQuestion): Explanation;
  /**
   * Rules that can never match, or that another always decides over; in words, none when all is well.
   * @param tools where they are known: a rule that names none of them is found too.
   */
  problems(tools?: readonly KnownTool[]): readonly string[];
}

/**
 * The policy of D035 to D041: lists, modes and rules, in the order of docs/policy.md. Each part
 * of a call is evaluated on its own and the strictest answer counts. A list entry or rule holds for all names of a tool
 * (F001). A name on the allowlist answers the mode's question, never the tool's own; a rule that matches the
 * arguments of every part answers both.
 *
 * @throws ToolError `config_invalid` for an unknown option, a value that is none, a rule that cannot be read, and an
 *   example of a rule that does not hold.
 */
export function createPolicy(options: PolicyOptions = {}, parts: PolicyParts = {}): RulePolicy {
  const { analyzeCommand } = normalizeOptions<Required<PolicyParts>>('policy parts', parts, {
    analyzeCommand: option(undefined, (value) => typeof value === 'function', 'a function'),
  });
  const compiled = compilePolicy(options);
  checkExamples(compiled.rules, analyzeCommand, compiled.options.mode);
  return policyOf(compiled, { analyzeCommand });
}

/** The same of options that have been read; `checkExamples` is left to the caller. */
export function policyOf({ options, rules }: CompiledPolicy, { analyzeCommand }: PolicyParts): RulePolicy {
  const basis: PolicyBasis = {
    ...options,
    allowed: new Set(options.allowlist),
    denied: new Set(options.denylist),
    index: new RuleIndex(rules),
    hasRules: rules.length > 0,
    analyzeCommand,
  };
  return new OrderedPolicy(basis, rules);
}

function withSeen(answer: PolicyAnswer, { seen }: Evaluation): PolicyAnswer {
  return seen.length === 0 ? answer : { ...answer, seen };
}

const BY_NAME = ORDER.filter(({ byName }) => byName === true);

class OrderedPolicy implements RulePolicy {
  readonly #basis: PolicyBasis;
  readonly #rules: readonly CompiledRule[];

  constructor(basis: PolicyBasis, rules: readonly CompiledRule[]) {
    this.#basis = basis;
    this.#rules = rules;
  }

  decide(question: PolicyQuestion): PolicyAnswer {
    const evaluation = new Evaluation(this.#basis, readQuestion(question));
    // By index: this is asked for every call there is.
    for (let step = 0; step < ORDER.length; step++) {
      const answered = ORDER[step]?.answer(evaluation);
      if (answered !== undefined) return withSeen(answered, evaluation);
    }
    throw new Error('the last step of the order answers');
  }

  screen(name: string, aliases: readonly string[] = []): PolicyAnswer | undefined {
    const evaluation = new Evaluation(this.#basis, {
      name,
      aliases,
      sideEffecting: true,
      requiresApproval: true,
    });
    for (let step = 0; step < BY_NAME.length; step++) {
      const answered = BY_NAME[step]?.answer(evaluation);
      if (answered !== undefined) return answered;
    }
    return undefined;
  }

  refuses(name: string, aliases: readonly string[] = []): boolean {
    return refusesName({ options: this.#basis, rules: this.#rules }, name, aliases);
  }

  minds({ name, aliases }: PolicyQuestion): boolean {
    const { hasRules, mode, promptSideEffects, allowed } = this.#basis;
    return hasRules || mode === 'auto' || !promptSideEffects || entryOf(allowed, name, aliases) !== undefined;
  }

  explain(question: PolicyQuestion): Explanation {
    const asked = readQuestion(question);
    return explainDecision(this.decide(asked), new Evaluation(this.#basis, asked), this.#rules);
  }

  problems(tools?: readonly KnownTool[]): readonly string[] {
    return findProblems(this.#rules, this.#basis, tools);
  }
}

/**
 * A question as it can be evaluated. Programs without types may leave out what a call is like: what is not said to be
 * harmless is taken to have side effects and to require approval, and what is not said to be inside lies outside.
 * @throws ToolError `bad_args` when it is none.
 */
function readQuestion(question: PolicyQuestion): PolicyQuestion {
  if (typeof question?.name !== 'string')
    throw new ToolError(
      'bad_args',
      'Cannot decide: the question has no name. Give { name, sideEffecting, requiresApproval }.',
    );
  const { sideEffecting, requiresApproval, sandboxViolation } = question;
  if (isBoolean(sideEffecting) && isBoolean(requiresApproval) && isBoolean(sandboxViolation ?? false))
    return question;
  return {
    ...question,
    sideEffecting: sideEffecting !== false,
    requiresApproval: requiresApproval !== false,
    sandboxViolation: (sandboxViolation ?? false) !== false,
  };
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
