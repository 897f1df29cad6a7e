/** `toolexec/policy`: what may run, what must be asked, what is refused. */
export type {
  DecisionObserver,
  ObservedQuestion,
  Policy,
  PolicyAnswer,
  PolicyFunction,
  PolicyQuestion,
  WriteConsent,
} from './contract/policy.js';
export { createAnalyzingPolicy as createPolicy } from './policy/create-analyzing-policy.js';
export type { PolicyParts, RulePolicy } from './policy/create-policy.js';
export type { Candidate, Explanation, RuleReference } from './policy/explain/explain-decision.js';
export type { KnownTool } from './policy/explain/find-problems.js';
export type { ArgumentCondition } from './policy/matching/argument-pattern.js';
export type { PolicyOptions } from './policy/rules/policy-options.js';
export type {
  PolicyMode,
  PolicyRule,
  RuleDecision,
  RuleExample,
  RuleOrigin,
  RuleTier,
} from './policy/rules/policy-rule.js';
export type { AnalyzeCommand, CommandAnalysis } from './policy/shell/analysis.js';
export { analyzeCommand } from './policy/shell/analyze-command.js';
