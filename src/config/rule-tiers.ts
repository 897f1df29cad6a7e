import type { PolicyOptions } from '../policy/policy-options.js';
import type { PolicyRule, RuleTier } from '../policy/rules/policy-rule.js';
import type { ConfigLayer, LayerSetting } from './config-layer.js';
import type { Configuration } from './configuration.js';
import { RULES } from './rules-kind.js';

export const RULES_KEY = 'tools.approval.rules';

/** The rules of all files, each with its place: who has written a rule says what it may do. */
export function tiersOf(layers: readonly ConfigLayer[], projectMayAllow: boolean): Partial<PolicyOptions> {
  const rules = layers.flatMap((layer) => placedRules(layer.get(RULES_KEY)));
  if (rules.length === 0) return {};
  const of = (tier: RuleTier): readonly PolicyRule[] => rules.filter(({ origin }) => origin?.tier === tier);
  const administrator = of('administrator');
  return {
    tiers: {
      ...(administrator.length === 0 ? {} : { administrator }),
      user: of('user'),
      project: of('project'),
    },
    projectMayAllow,
  };
}

function placedRules(setting: LayerSetting | undefined): readonly PolicyRule[] {
  const [origin] = setting?.origins ?? [];
  if (setting === undefined || origin === undefined || !('file' in origin)) return [];
  const tier = origin.kind === 'project' || origin.kind === 'administrator' ? origin.kind : 'user';
  const { file } = origin;
  const written = listOf(setting.value);
  return listOf(RULES.toOption(setting.value, setting.directory)).map((rule, index) => ({
    ...(rule as PolicyRule),
    origin: { tier, file, line: setting.lineOf?.(written[index]) ?? origin.line },
  }));
}

/** Options with the rules of the files. */
export function withTiers(configuration: Configuration, tiers: Partial<PolicyOptions>): Configuration {
  if (tiers.tiers === undefined) return configuration;
  const { executor } = configuration;
  return { ...configuration, executor: { ...executor, policy: { ...executor.policy, ...tiers } } };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
