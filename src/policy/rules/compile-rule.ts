import type { EffectKind } from '../../contract/effect.js';
import type { Origin } from '../../contract/origin.js';
import type { PolicyQuestion } from '../../contract/policy.js';
import { ToolError } from '../../errors/tool-error.js';
import { type CommandPattern, parseCommandPattern } from '../../patterns/command.js';
import { type HostPattern, parseHostPattern } from '../../patterns/host.js';
import { type NamePattern, parseNamePattern } from '../../patterns/name.js';
import { canonicalOriginPattern, matchesOrigin } from '../../patterns/origin.js';
import { type ArgumentTest, parseArgument } from '../matching/argument-pattern.js';
import { type PathPattern, parsePathPattern } from '../matching/path-pattern.js';
import type { CallPart } from './call-part.js';
import { normalizeRule, show } from './normalize-rule.js';
import type { PolicyMode, PolicyRule, RuleTier } from './policy-rule.js';

/** One pattern in a rule's list. */
export type ArgumentPattern =
  | { readonly field: 'path'; readonly pattern: PathPattern }
  | { readonly field: 'command'; readonly pattern: CommandPattern }
  | { readonly field: 'url'; readonly pattern: HostPattern };

/** A parsed rule. */
export interface CompiledRule {
  readonly rule: PolicyRule;
  /** Its name in messages: `rules[3]`, `user rules[3] (policy.toml:12)`. */
  readonly place: string;
  /** The same with its content: `deny command "rm *" (rules[3])`. */
  readonly label: string;
  readonly tier: RuleTier | 'program';
  /** Its position over all tiers. */
  readonly order: number;
  readonly tools: readonly NamePattern[] | undefined;
  /** The names in its `tool`, if none of them is a pattern. */
  readonly toolNames: ReadonlySet<string> | undefined;
  readonly effects: ReadonlySet<EffectKind> | undefined;
  readonly contains: readonly string[] | undefined;
  /** Its conditions for single arguments (`args`). */
  readonly argumentTests: readonly ArgumentTest[] | undefined;
  readonly categories: readonly string[] | undefined;
  readonly agents: readonly NamePattern[] | undefined;
  readonly modes: readonly PolicyMode[] | undefined;
  readonly arguments: readonly ArgumentPattern[];
  /** The paths that its commands may change; undefined: every path that does not run later by itself. */
  readonly writes: readonly PathPattern[] | undefined;
  /** It has conditions on arguments: `path`, `command`, `url` or `contains`. */
  readonly hasArguments: boolean;
}

export const ARGUMENT_FIELDS = ['path', 'command', 'url'] as const;

/** @throws ToolError `config_invalid` for a rule that no policy accepts, with its place. */
export function checkRule(value: unknown, place: string): void {
  compileRule(normalizeRule(value, place), place, 0);
}

/** @throws ToolError `config_invalid` for an invalid pattern. */
export function compileRule(rule: PolicyRule, place: string, order: number): CompiledRule {
  const tightens = rule.decision !== 'allow';
  const tools = names(rule.tool);
  const { origin } = rule;
  const at =
    origin?.file === undefined
      ? ''
      : ` (${origin.file}${origin.line === undefined ? '' : `:${origin.line}`})`;
  const patterns = readArguments(rule, place, tightens);
  return {
    rule,
    place: `${place}${at}`,
    label: `${describe(rule)}, ${place}${at}`,
    tier: origin?.tier ?? 'program',
    order,
    tools,
    toolNames: tools?.every(({ literal }) => literal !== undefined)
      ? new Set(tools.map(({ source }) => source))
      : undefined,
    effects: rule.effect === undefined ? undefined : new Set(listOf(rule.effect)),
    contains: rule.contains === undefined ? undefined : listOf(rule.contains),
    argumentTests: rule.args === undefined ? undefined : readTests(rule.args, place),
    categories: rule.category === undefined ? undefined : listOf(rule.category),
    agents: names(rule.agent),
    modes: rule.mode === undefined ? undefined : listOf(rule.mode),
    arguments: patterns,
    writes: rule.writes === undefined ? undefined : readWrites(rule.writes, place),
    hasArguments: rule.contains !== undefined || ARGUMENT_FIELDS.some((field) => rule[field] !== undefined),
  };
}

function readTests(args: NonNullable<PolicyRule['args']>, place: string): readonly ArgumentTest[] {
  return Object.entries(args).map(([pointer, condition]) => {
    try {
      return parseArgument(pointer, condition);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it cannot be read';
      throw new ToolError(
        'config_invalid',
        `Policy ${place}.args has ${show(pointer)} with ${show(condition)}: ${why}.`,
        { details: { place: `${place}.args` } },
      );
    }
  });
}

function readWrites(writes: string | readonly string[], place: string): readonly PathPattern[] {
  return readPatterns(writes, `${place}.writes`, (source) => parsePathPattern(source, false));
}

/** @throws ToolError `config_invalid` with the pattern */
function readPatterns<T>(
  sources: string | readonly string[],
  place: string,
  parse: (source: string) => readonly T[],
): readonly T[] {
  return listOf(sources).flatMap((source) => {
    try {
      return parse(source);
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it cannot be read';
      throw new ToolError('config_invalid', `Policy ${place}: cannot use ${show(source)}: ${why}.`, {
        details: { place, field: place.slice(place.lastIndexOf('.') + 1) },
      });
    }
  });
}

function readArguments(rule: PolicyRule, place: string, tightens: boolean): readonly ArgumentPattern[] {
  const read = <T>(
    field: 'path' | 'command' | 'url',
    parse: (source: string) => readonly T[],
  ): readonly T[] => readPatterns(rule[field] ?? [], `${place}.${field}`, parse);
  return [
    ...read('path', (source) => parsePathPattern(source, tightens)).map(
      (pattern) => ({ field: 'path', pattern }) as const,
    ),
    ...read('command', (source) => [parseCommandPattern(source, tightens)]).map(
      (pattern) => ({ field: 'command', pattern }) as const,
    ),
    ...read('url', (source) => [parseHostPattern(source, tightens)]).map(
      (pattern) => ({ field: 'url', pattern }) as const,
    ),
  ];
}

function names(value: string | readonly string[] | undefined): readonly NamePattern[] | undefined {
  return value === undefined ? undefined : listOf(value).map(parseNamePattern);
}

export function listOf<T extends string>(value: T | readonly T[]): readonly T[] {
  return typeof value === 'string' ? [value] : value;
}

/** The rule in words: its decision and its conditions. */
function describe(rule: PolicyRule): string {
  const { decision, match: _match, not_match: _not, origin: _origin, reason: _reason, ...conditions } = rule;
  const said = Object.entries(conditions).map(([field, value]) => `${field} ${shorten(value)}`);
  return `${decision} ${said.length === 0 ? 'everything' : said.join(', ')}`;
}

function shorten(value: unknown): string {
  if (!Array.isArray(value)) return show(value);
  if (value.length === 0) return 'nothing';
  const more = value.length > 3 ? ` and ${value.length - 3} more` : '';
  return `${value.slice(0, 3).map(show).join(' or ')}${more}`;
}

/** The condition that fails for the call as a whole; undefined if all hold. */
export function callMismatch(
  rule: CompiledRule,
  question: PolicyQuestion,
  mode: PolicyMode,
): string | undefined {
  const { tools, toolNames, categories, agents, modes } = rule;
  const { data_from, args_from } = rule.rule;
  const { name, aliases = [], category, agent = 'main' } = question;
  if (modes !== undefined && !modes.includes(mode)) return `the policy is in mode "${mode}"`;
  if (toolNames !== undefined) {
    if (!toolNames.has(name) && !aliases.some((alias) => toolNames.has(alias))) return `the tool is ${name}`;
  } else if (tools !== undefined) {
    const matches = (candidate: string): boolean => tools.some((tool) => tool.matches(candidate));
    if (!matches(name) && !aliases.some(matches)) return `the tool is ${name}`;
  }
  if (categories !== undefined && (category === undefined || !categories.includes(category))) {
    return `the tool's category is ${category ?? 'not known'}`;
  }
  const { side_effecting, idempotent } = rule.rule;
  if (side_effecting !== undefined && side_effecting !== question.sideEffecting) {
    return `the call has ${question.sideEffecting ? '' : 'no '}side effects`;
  }
  if (idempotent !== undefined && idempotent !== (question.idempotent ?? false)) {
    return `the tool is ${question.idempotent === true ? '' : 'not '}idempotent`;
  }
  if (agents !== undefined && !agents.some((pattern) => pattern.matches(agent)))
    return `the agent is ${agent}`;
  if (data_from !== undefined || args_from !== undefined) return originMismatch(rule.rule, question.origins);
  return undefined;
}

function originMismatch(
  { decision, data_from, args_from = {} }: PolicyRule,
  origins: PolicyQuestion['origins'],
): string | undefined {
  if (origins === undefined) return 'nothing is known of where data came from';
  const isFrom = (patterns: string | readonly string[], found: readonly Origin[]): boolean =>
    listOf(patterns).some((pattern) => {
      const canonical = canonicalOriginPattern(pattern);
      return found.some((origin) => matchesOrigin(canonical, origin));
    });
  if (data_from !== undefined && !isFrom(data_from, origins.seen)) {
    return `the model has seen ${origins.seen.join(', ') || 'nothing'}`;
  }
  // The content of dropped texts is unknown: a rule that refuses or asks assumes that they contained all arguments.
  const possible = origins.isForgotten === true && decision !== 'allow' ? origins.seen : [];
  for (const [pointer, patterns] of Object.entries(args_from)) {
    const found = origins.args[pointer] ?? [];
    if (!isFrom(patterns, found) && !isFrom(patterns, possible))
      return `${pointer} came from ${found.join(', ') || 'nothing that was seen'}`;
  }
  return undefined;
}

/** The condition about parts, other than patterns, that fails for this part. */
export function partMismatch(rule: CompiledRule, part: CallPart): string | undefined {
  const { effects, contains } = rule;
  if (effects !== undefined && (part.kind === undefined || !effects.has(part.kind))) {
    return `the effect is ${part.kind ?? 'none'}`;
  }
  if (contains === undefined) return undefined;
  const { run, seen } = part;
  if (run === undefined || seen !== undefined) return 'it is not a command';
  return contains.some((text) => run.text.includes(text))
    ? undefined
    : 'the command does not contain the text';
}

/** @param isContained the call's commands run in a transaction, so a star matches any words */
export function matchesArgument(
  { field, pattern }: ArgumentPattern,
  part: CallPart,
  isContained: boolean,
): boolean {
  switch (field) {
    case 'path':
      return part.path !== undefined && pattern.matches(part.path);
    case 'command':
      if (part.words === undefined) return false;
      return pattern.matches(isContained ? part.words : (part.covered?.() ?? part.words), part.settings);
    case 'url':
      return part.url !== undefined && pattern.matches(part.url);
  }
}

/** A rule with one of its patterns, for look-up, matching and comparison. */
export interface RuleEntry {
  readonly rule: CompiledRule;
  readonly argument: ArgumentPattern | undefined;
  /** Its rank in each line of the table of precision. */
  readonly precision: readonly number[];
}
