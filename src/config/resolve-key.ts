import type { PolicyOptions } from '../policy/rules/policy-options.js';
import type { PolicyRule, RuleTier } from '../policy/rules/policy-rule.js';
import type { ConfigKey } from './config-key.js';
import type { ConfigLayer, ConfigOrigin, LayerSetting } from './config-layer.js';
import type { Configuration } from './configuration.js';
import { RULES } from './table-kinds.js';

export interface ResolvedSetting {
  readonly key: string;
  /** In the file's notation; undefined if nothing is set. */
  readonly value: unknown;
  /** The strongest first; joined lists have several. */
  readonly origins: readonly ConfigOrigin[];
  /** For a list of tables: the position of each. */
  readonly itemOrigins?: readonly ConfigOrigin[];
}

export interface ResolvedKey {
  readonly resolved: ResolvedSetting;
  /** The strongest layer with this key. */
  readonly setting: LayerSetting | undefined;
}

/** The value of a key: from the strongest layer, or the lists of all layers. */
export function resolveKey(key: string, known: ConfigKey, layers: readonly ConfigLayer[]): ResolvedKey {
  const naming = layers.flatMap((layer) => layer.get(key) ?? []);
  const [setting] = naming;
  if (setting === undefined) {
    return { resolved: { key, value: known.fallback, origins: [{ kind: 'default' }] }, setting };
  }
  if (known.isAdditive !== true) {
    const { value, origins } = setting;
    return { resolved: { key, value, origins, ...tablesOf([setting]) }, setting };
  }
  const value = [...new Set(naming.flatMap((one) => listOf(one.value)))];
  const origins: readonly ConfigOrigin[] = naming.flatMap((one) => one.origins);
  return { resolved: { key, value, origins, ...tablesOf(naming) }, setting };
}

/** Each table has its own line, which a person may want to find. */
function tablesOf(naming: readonly LayerSetting[]): Pick<ResolvedSetting, 'itemOrigins'> {
  const placed = naming.flatMap(({ value, origins: [origin], lineOf }) =>
    listOf(value).map((item) => ({ item, origin: placeItem(origin, lineOf?.(item)) })),
  );
  if (!placed.some(({ item }) => typeof item === 'object')) return {};
  return { itemOrigins: placed.map(({ origin }) => origin) };
}

function placeItem(origin: ConfigOrigin | undefined, line: number | undefined): ConfigOrigin {
  if (origin === undefined) return { kind: 'default' };
  return 'file' in origin && line !== undefined ? { ...origin, line } : origin;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export const RULES_KEY = 'tools.approval.rules';

/** The rules of all files with their origins, because the author of a rule decides what it may do. */
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

/** Adds the rules of the files to the options. */
export function withTiers(configuration: Configuration, tiers: Partial<PolicyOptions>): Configuration {
  if (tiers.tiers === undefined) return configuration;
  const { executor } = configuration;
  return { ...configuration, executor: { ...executor, policy: { ...executor.policy, ...tiers } } };
}
