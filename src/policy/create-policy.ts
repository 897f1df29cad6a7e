import { normalizeOptions, option } from '../base/normalize-options.js';
import type { Policy, PolicyAnswer, PolicyQuestion } from '../contract/policy.js';
import { ToolError } from '../errors/tool-error.js';
import { type CompiledPolicy, compilePolicy, refusesName } from './compile-policy.js';
import { checkExamples } from './evaluation/check-examples.js';
import { Evaluation, type PolicyBasis } from './evaluation/evaluation.js';
import { ORDER } from './evaluation/order.js';
import { RuleIndex } from './evaluation/rule-index.js';
import { type Explanation, explainDecision } from './explain/explain-decision.js';
import { findProblems, type KnownTool } from './explain/find-problems.js';
import { letsWorkspaceCodeRun, RUNS_WORKSPACE_CODE } from './explain/workspace-code.js';
import { LaterCode } from './later-code/later-code.js';
import { type CompiledRule, listOf } from './rules/compile-rule.js';
import type { PolicyOptions } from './rules/policy-options.js';
import type { AnalyzeCommand } from './shell/analysis.js';

/** The dependencies of a policy. */
export interface PolicyParts {
  /** If absent: commands are not analysed, and command rules match only single plain commands. */
  readonly analyzeCommand?: AnalyzeCommand | undefined;
}

/** A policy of rules that can explain its decisions. */
export interface RulePolicy extends Policy {
  screen(name: string, aliases?: readonly string[]): PolicyAnswer | undefined;
  /** Whether every call of the tool is refused, with any arguments. */
  refuses(name: string, aliases?: readonly string[]): boolean;
  /** The decision, the deciding rule, and the result of every other rule. */
  explain(question: PolicyQuestion): Explanation;
  /**
   * Rules that can never match, or that another rule always overrides; in words, empty if there are none.
   * @param tools if known: a rule that matches none of them is reported too.
   */
  problems(tools?: readonly KnownTool[]): readonly string[];
  /** Rules that allow the workspace's code to run, as far as the programs are known; in words. */
  marks(): readonly string[];
}

/**
 * Creates the policy of D035 to D041: lists, modes and rules, in the order of docs/policy.md. Each part of a
 * call is evaluated separately and the strictest answer counts. A list entry or rule applies to all names of
 * a tool (F001). A name on the allowlist answers the mode's question, but never the tool's own; a rule that
 * matches the arguments of every part answers both.
 *
 * @throws ToolError `config_invalid` for an unknown option, an invalid value or rule, and a rule's failing
 * example.
 */
export function createPolicy(options: PolicyOptions = {}, parts: PolicyParts = {}): RulePolicy {
  const { analyzeCommand } = normalizeOptions<Required<PolicyParts>>('policy parts', parts, {
    analyzeCommand: option(undefined, (value) => typeof value === 'function', 'a function'),
  });
  const compiled = compilePolicy(options);
  checkExamples(compiled.rules, analyzeCommand, compiled.options.mode);
  return policyOf(compiled, { analyzeCommand });
}

/** The same for parsed options; the caller runs `checkExamples`. */
export function policyOf({ options, rules }: CompiledPolicy, { analyzeCommand }: PolicyParts): RulePolicy {
  const basis: PolicyBasis = {
    ...options,
    allowed: new Set(options.allowlist),
    denied: new Set(options.denylist),
    index: new RuleIndex(rules),
    hasRules: rules.length > 0,
    later: new LaterCode(options.laterCode),
    analyzeCommand,
  };
  return new OrderedPolicy(basis, rules);
}

function withSeen(answer: PolicyAnswer, { seen, consent }: Evaluation): PolicyAnswer {
  const known = seen.length === 0 ? answer : { ...answer, seen };
  return consent === undefined || answer.disposition === 'pre_resolved' ? known : { ...known, consent };
}

const BY_NAME = ORDER.filter(({ byName }) => byName === true);

class OrderedPolicy implements RulePolicy {
  readonly laterCode: readonly string[];
  readonly #basis: PolicyBasis;
  readonly #rules: readonly CompiledRule[];

  constructor(basis: PolicyBasis, rules: readonly CompiledRule[]) {
    this.laterCode = basis.laterCode;
    this.#basis = basis;
    this.#rules = rules;
  }

  get searchesOrigins(): boolean {
    return this.#basis.provenance !== 'off' || this.#rules.some(({ rule }) => rule.args_from !== undefined);
  }

  decide(question: PolicyQuestion): PolicyAnswer {
    const evaluation = new Evaluation(this.#basis, readQuestion(question));
    // By index, because every call runs this.
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

  explain(question: PolicyQuestion): Explanation {
    const asked = readQuestion(question);
    return explainDecision(this.decide(asked), new Evaluation(this.#basis, asked), this.#rules);
  }

  problems(tools?: readonly KnownTool[]): readonly string[] {
    return findProblems(this.#rules, this.#basis, tools);
  }

  marks(): readonly string[] {
    return this.#rules.flatMap(({ rule, label }) => {
      const isOpen = rule.decision === 'allow' && listOf(rule.command ?? []).some(letsWorkspaceCodeRun);
      return isOpen ? [`${label}: ${RUNS_WORKSPACE_CODE}.`] : [];
    });
  }
}

/**
 * Completes a question. Untyped programs may omit traits of a call: a call that is not declared harmless
 * counts as side-effecting and requires approval, and a path that is not declared inside counts as outside.
 * @throws ToolError `bad_args` if it is not a question.
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
