import type { Effect } from '../../contract/effect.js';
import type { Origin } from '../../contract/origin.js';
import type { PolicyQuestion } from '../../contract/policy.js';
import { EFFECT_KINDS } from '../../effects/effect-kinds.js';
import { ToolError } from '../../errors/tool-error.js';
import { type CallPart, partsOf } from '../rules/call-part.js';
import { ARGUMENT_FIELDS, type CompiledRule, listOf } from '../rules/compile-rule.js';
import { show } from '../rules/normalize-rule.js';
import type { PolicyMode, PolicyRule, RuleExample } from '../rules/policy-rule.js';
import type { AnalyzeCommand } from '../shell/analysis.js';
import { entriesOf } from './rule-index.js';
import { mismatch } from './rule-match.js';

/**
 * Tests every rule with its own examples. A rule that asks or denies matches a call if it matches one part; a
 * rule that allows, if it matches every command, path and URL of it.
 * @throws ToolError `config_invalid` with the rule and the failing example.
 */
export function checkExamples(
  rules: readonly CompiledRule[],
  analyze: AnalyzeCommand | undefined,
  mode: PolicyMode,
): void {
  for (const rule of rules) {
    for (const example of examplesOf(rule.rule.match)) {
      if (!matchesExample(rule, example, analyze, mode)) throw wrong(rule, example, 'does not match');
    }
    for (const example of examplesOf(rule.rule.not_match)) {
      if (matchesExample(rule, example, analyze, mode)) throw wrong(rule, example, 'matches');
    }
  }
}

function examplesOf(given: PolicyRule['match']): readonly RuleExample[] {
  if (given === undefined) return [];
  return isList(given) ? given : [given];
}

function isList(given: RuleExample | readonly RuleExample[]): given is readonly RuleExample[] {
  return Array.isArray(given);
}

function wrong(rule: CompiledRule, example: RuleExample, does: string): ToolError {
  const field = does === 'matches' ? 'not_match' : 'match';
  return new ToolError(
    'config_invalid',
    `Policy ${rule.label} ${does} its own example ${show(example)} of ${field}. Correct the rule or the example.`,
    { details: { place: rule.place, field } },
  );
}

function matchesExample(
  rule: CompiledRule,
  example: RuleExample,
  analyze: AnalyzeCommand | undefined,
  mode: PolicyMode,
): boolean {
  const question = toQuestion(rule.rule, example);
  const entries = entriesOf(rule);
  // The current mode and trust do not matter: an example tests only the rule.
  const at = {
    question,
    mode: rule.modes?.[0] ?? mode,
    projectMayAllow: true,
    argumentAnswers: new Map(),
  };
  const matches = (part: CallPart): boolean =>
    entries.some((entry) => mismatch(entry, part, at) === undefined);
  const parts = partsOf(question, analyze);
  if (rule.rule.decision !== 'allow') return parts.some(matches);
  return parts.filter(({ seen }) => seen === undefined).every(matches);
}

function toQuestion(rule: PolicyRule, example: RuleExample): PolicyQuestion {
  const given = typeof example === 'string' ? fromText(rule, example) : example;
  const { side_effecting, category, idempotent } = rule;
  const agent = given.agent ?? firstPlain(rule.agent);
  const effects = effectsOf(rule, given);
  return {
    name: given.tool ?? firstPlain(rule.tool) ?? 'example',
    sideEffecting: side_effecting ?? true,
    requiresApproval: false,
    // An example tests the words of a rule, independent of where commands run.
    transaction: true,
    ...(effects === undefined ? {} : { effects }),
    ...(given.args === undefined ? {} : { args: given.args }),
    ...(agent === undefined ? {} : { agent }),
    ...(category === undefined ? {} : { category: listOf(category)[0] ?? 'custom' }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...originsOf(rule),
  };
}

type ExampleFields = Exclude<RuleExample, string>;

/** A text is an example of the rule's subject. */
function fromText(rule: PolicyRule, text: string): ExampleFields {
  if (rule.command !== undefined || rule.contains !== undefined) return { command: text };
  if (rule.path !== undefined) return { path: text };
  if (rule.url !== undefined) return { url: text };
  return { tool: text };
}

function effectsOf(
  rule: PolicyRule,
  { command, path, url, effect, args }: ExampleFields,
): readonly Effect[] | undefined {
  const named = rule.effect === undefined ? [] : listOf(rule.effect);
  const kind = effect ?? named[0];
  const effects: Effect[] = [];
  // An example applies to any shell: `sh` is the strictest reading.
  if (command !== undefined) effects.push({ kind: 'run', command, shell: 'sh' });
  if (path !== undefined) effects.push({ kind: kind === 'write' || kind === 'delete' ? kind : 'read', path });
  if (url !== undefined) effects.push({ kind: 'fetch', url });
  if (effects.length > 0) return effects;
  // A rule about arguments and a kind needs no path or command in its example.
  const isAboutArguments =
    rule.args !== undefined && !ARGUMENT_FIELDS.some((field) => rule[field] !== undefined);
  if (kind !== undefined && (args === undefined || isAboutArguments)) return [EFFECT_KINDS[kind].example];
  return args === undefined ? [] : undefined;
}

/** The first name in a list that is not a pattern. */
function firstPlain(value: string | readonly string[] | undefined): string | undefined {
  return value === undefined ? undefined : listOf(value).find((name) => !/[*?]/.test(name));
}

/** A conversation in which the rule applies. */
function originsOf({ data_from, args_from = {} }: PolicyRule): Pick<PolicyQuestion, 'origins'> {
  if (data_from === undefined && Object.keys(args_from).length === 0) return {};
  const named = (patterns: string | readonly string[]): Origin[] => [
    listOf(patterns)[0]?.replace('*', 'example') as Origin,
  ];
  const args = Object.entries(args_from).map(([pointer, patterns]) => [pointer, named(patterns)] as const);
  const seen = data_from === undefined ? [] : named(data_from);
  return { origins: { seen, args: Object.fromEntries(args), places: {} } };
}
