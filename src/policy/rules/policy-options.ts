import { nearestName } from '../../base/nearest-name.js';
import { type OptionsIn, SETTINGS } from '../../contract/settings.js';
import { ToolError } from '../../errors/tool-error.js';
import { LATER_CODE_PATTERNS } from '../later-code/later-code.js';
import { parsePathPattern } from '../matching/path-pattern.js';
import { normalizeRule, show, TIERS } from './normalize-rule.js';
import type { PolicyMode, PolicyRule, RuleTier } from './policy-rule.js';

/**
 * Whether origins are considered. `warn`: rules can use them, and harmful patterns are asked about once the model has
 * seen text from outside. `ask`: from then on, every side effect is asked about.
 */
export type ProvenancePreset = NonNullable<OptionsIn<'executor.policy'>['provenance']>;

/** A configured list replaces the default; an entry may be any name of a tool. */
export interface PolicyOptions {
  /** Default true. False: every call is answered `policy_disabled`. */
  readonly enabled?: boolean;
  /** Default `prompt`. */
  readonly mode?: PolicyMode;
  /** Default `['read_file']`. */
  readonly allowlist?: readonly string[];
  /** Default `['run_command']`. Applies in every mode, and overrides the allowlist. */
  readonly denylist?: readonly string[];
  /** Default true. In mode `prompt`: whether calls with side effects need approval. */
  readonly promptSideEffects?: boolean;
  /** The program's own rules. A rule with an `origin` belongs to that tier. */
  readonly rules?: readonly PolicyRule[];
  /** Rules from files: a lower tier can only tighten a higher one (administrator, user, project). */
  readonly tiers?: Partial<Readonly<Record<RuleTier, readonly PolicyRule[]>>>;
  /**
   * Path patterns of files that commands change only after a question. Default: the table in docs/deeds.md.
   */
  readonly laterCode?: readonly string[];
  /** Default `warn`. */
  readonly provenance?: ProvenancePreset;
  /** Default false: allowing rules of the project have no effect until the person trusts the project. */
  readonly projectMayAllow?: boolean;
}

export type NormalizedPolicyOptions = Omit<Required<PolicyOptions>, 'tiers'>;

const { enabled, mode, promptSideEffects, provenance } = SETTINGS['executor.policy'];

const DEFAULTS: Required<PolicyOptions> = {
  enabled: enabled.fallback,
  mode: mode.fallback,
  allowlist: ['read_file'],
  denylist: ['run_command'],
  promptSideEffects: promptSideEffects.fallback,
  rules: [],
  tiers: {},
  laterCode: LATER_CODE_PATTERNS,
  provenance: provenance.fallback,
  projectMayAllow: false,
};

/** Possible tool names. An impossible entry is a mistake, and would guard nothing. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws ToolError `config_invalid` with the option, the value and the remedy. */
export function normalizePolicyOptions(options: unknown): NormalizedPolicyOptions {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`Cannot create a policy from ${show(options)}: expected an object of options.`);
  }
  for (const key of Object.keys(options)) refuseUnknown(key);
  const given: Readonly<Record<keyof PolicyOptions, unknown>> = { ...DEFAULTS, ...withoutUndefined(options) };
  return {
    enabled: normalizeBoolean('enabled', given.enabled),
    mode: normalizeMode(given.mode),
    allowlist: normalizeNames('allowlist', given.allowlist),
    denylist: normalizeNames('denylist', given.denylist),
    promptSideEffects: normalizeBoolean('promptSideEffects', given.promptSideEffects),
    rules: [...normalizeRules('rules', given.rules), ...normalizeTiers(given.tiers)],
    laterCode: normalizePatterns('laterCode', given.laterCode),
    provenance: normalizeProvenance(given.provenance),
    projectMayAllow: normalizeBoolean('projectMayAllow', given.projectMayAllow),
  };
}

function refuseUnknown(key: string): void {
  if (Object.hasOwn(DEFAULTS, key)) return;
  const known = Object.keys(DEFAULTS);
  const nearest = nearestName(key, known);
  const hint = nearest === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean "${nearest}"?`;
  throw invalid(`Unknown policy option ${show(key)}. ${hint}`);
}

function withoutUndefined(options: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function normalizeBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`Policy option ${option} is ${show(value)}: expected true or false.`);
}

function normalizeMode(value: unknown): PolicyMode {
  const known = mode.of.find((one) => one === value);
  if (known !== undefined) return known;
  throw invalid(`Policy option mode is ${show(value)}: expected "auto", "prompt" or "deny".`);
}

function normalizeProvenance(value: unknown): ProvenancePreset {
  const known = provenance.of.find((one) => one === value);
  if (known !== undefined) return known;
  throw invalid(`Policy option provenance is ${show(value)}: expected "off", "warn" or "ask".`);
}

function normalizeNames(option: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) {
    throw invalid(`Policy option ${option} is ${show(value)}: expected an array of tool names.`);
  }
  return value.map((name: unknown) => {
    if (typeof name === 'string' && TOOL_NAME.test(name)) return name;
    throw invalid(
      `Policy option ${option} names ${show(name)}: expected a tool name (letters, digits, _ and -, at most 64).`,
    );
  });
}

function normalizePatterns(option: string, value: unknown): readonly string[] {
  // Callers recognize the built-in table by identity: only that one leaves out dependency folders.
  if (value === LATER_CODE_PATTERNS) return LATER_CODE_PATTERNS;
  if (!Array.isArray(value)) {
    throw invalid(`Policy option ${option} is ${show(value)}: expected an array of path patterns.`);
  }
  return value.map((pattern: unknown) => {
    const why = typeof pattern === 'string' ? flawOf(pattern) : 'expected a text';
    if (why === undefined) return pattern as string;
    throw invalid(`Policy option ${option}: cannot use ${show(pattern)}: ${why}.`);
  });
}

function flawOf(pattern: string): string | undefined {
  try {
    parsePathPattern(pattern, true);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  }
}

function normalizeRules(option: string, value: unknown): readonly PolicyRule[] {
  if (!Array.isArray(value)) {
    throw invalid(`Policy option ${option} is ${show(value)}: expected an array of rules.`);
  }
  return Array.from(value, (rule: unknown, index) => normalizeRule(rule, `${option}[${index}]`));
}

function normalizeTiers(value: unknown): readonly PolicyRule[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`Policy option tiers is ${show(value)}: expected { ${TIERS.join(', ')} }.`);
  }
  const given = new Map<string, unknown>(Object.entries(value));
  for (const name of given.keys()) {
    if (!TIERS.some((tier) => tier === name)) {
      throw invalid(`Policy option tiers has ${show(name)}: expected ${TIERS.join(', ')}.`);
    }
  }
  return TIERS.flatMap((tier) =>
    normalizeRules(`tiers.${tier}`, given.get(tier) ?? []).map((rule) => ({
      ...rule,
      origin: { ...rule.origin, tier },
    })),
  );
}

function invalid(message: string): ToolError {
  return new ToolError('config_invalid', message);
}
