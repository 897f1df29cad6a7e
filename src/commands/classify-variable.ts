import { ENVIRONMENT_RULES, type EnvironmentRule } from './environment-rules.js';
import { createNameMatcher } from './match-name.js';

/** The rule that keeps a variable away from commands, undefined when there is none. */
export function classifyVariable(name: string, ignoreCase: boolean): EnvironmentRule | undefined {
  return (ignoreCase ? loose : strict).find(({ matches }) => matches(name))?.rule;
}

const strict = ENVIRONMENT_RULES.map((rule) => prepare(rule, rule.keepsCase !== true));
const loose = ENVIRONMENT_RULES.map((rule) => prepare(rule, true));

function prepare(rule: EnvironmentRule, ignoreCase: boolean) {
  return { rule, matches: createNameMatcher(rule.names.split(' '), ignoreCase) };
}
