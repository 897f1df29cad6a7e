import { join, resolve } from 'node:path';
import { isToolError } from '../errors/tool-error.js';
import { entryStat, realPath } from '../platform/fs-entry.js';
import { realPlace } from '../platform/real-place.js';
import { configHome } from '../platform/user-directories.js';
import type { PolicyOptions } from '../policy/policy-options.js';
import type { PolicyRule, RuleTier } from '../policy/rules/policy-rule.js';
import { CONFIG_KEYS, type ConfigKey } from './config-keys.js';
import {
  type ConfigLayer,
  type ConfigOrigin,
  EMPTY_LAYER,
  environmentLayer,
  fileLayer,
  flagLayer,
  type LayerSetting,
} from './config-layer.js';
import type { Configuration } from './configuration.js';
import { CONFIG_VARIABLE, unknownVariables } from './environment-settings.js';
import { findProjectFile } from './find-project-file.js';
import { readConfigFile } from './read-config-file.js';
import { requireSteadyRoots } from './require-steady-roots.js';
import { type IgnoredSetting, restrainLayer } from './restrain-layer.js';
import { RULES } from './rules-kind.js';
import { toConfiguration } from './to-configuration.js';
import { isTrustedText } from './trust-project.js';

export type { ConfigOrigin } from './config-layer.js';
export type { IgnoredSetting } from './restrain-layer.js';

export interface ConfigSources {
  /** Absolute. A project's `toolexec.toml` is looked for here and in the parents up to the one that holds `.git`. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Trusted; replaces the project's file. Left out: what `TOOLEXEC_CONFIG` names. */
  readonly configFile?: string;
  /** By full key name, values as they would stand in the file. */
  readonly flags?: Readonly<Record<string, unknown>>;
}

export interface ResolvedSetting {
  readonly key: string;
  /** As in a file; undefined where nothing is set. */
  readonly value: unknown;
  /** The strongest first; lists that are joined have several. */
  readonly origins: readonly ConfigOrigin[];
}

export interface ResolvedConfig {
  /** What something names, as options. */
  readonly configuration: Configuration;
  /** Every key, in the order of the table. */
  readonly settings: readonly ResolvedSetting[];
  readonly project?: { readonly file: string; readonly trusted: boolean };
  /** The person's own configuration, when it exists. */
  readonly userFile?: string;
  readonly ignored: readonly IgnoredSetting[];
  /** One line each. */
  readonly warnings: readonly string[];
}

/**
 * The configuration of the command (D113–D123): options beat `TOOLEXEC_*`, which beats the project's file, which beats
 * the person's own, which beats the default. A project's file that nobody has trusted may only tighten.
 * @throws ToolError `config_invalid` with the place of the first problem of the first source that has any.
 */
export function resolveConfig(sources: ConfigSources): ResolvedConfig {
  const { cwd, env, flags = {} } = sources;
  const user = userLayer(env);
  const person: PersonLayers = {
    user: user.layer,
    environment: environmentLayer(env, cwd),
    flags: flagLayer(flags, cwd),
  };
  const middle = middleLayer(sources, person);
  const layers = [person.flags, person.environment, middle.layer, person.user];
  const settings = Object.entries(CONFIG_KEYS).map(([key, known]) => resolveKey(key, known, layers));
  const named = settings.filter(({ setting }) => setting !== undefined);
  return {
    configuration: withTiers(
      toConfiguration(
        named
          .filter(({ key }) => key !== RULES_KEY)
          .map(({ key, value, setting }) => ({ key, value, directory: setting?.directory ?? cwd })),
      ),
      tiersOf(layers, middle.project?.trusted === true),
    ),
    settings: settings.map(({ key, value, origins }) => ({ key, value, origins })),
    ...(middle.project === undefined ? {} : { project: middle.project }),
    ...(user.file === undefined ? {} : { userFile: user.file }),
    ignored: middle.ignored,
    warnings: [...middle.warnings, ...unknownVariables(env)],
  };
}

const ROOTS = 'tools.sandbox.allowed_roots';

/** What a person says, wherever. */
interface PersonLayers {
  readonly user: ConfigLayer;
  readonly environment: ConfigLayer;
  readonly flags: ConfigLayer;
}

/** The layer of a file between the environment and the person's own configuration. */
interface MiddleLayer extends Pick<ResolvedConfig, 'project' | 'ignored' | 'warnings'> {
  readonly layer: ConfigLayer;
}

function userLayer(env: ConfigSources['env']): { readonly layer: ConfigLayer; readonly file?: string } {
  const file = join(configHome(env), 'toolexec', 'config.toml');
  if (isMissing(file)) return { layer: EMPTY_LAYER };
  const { text } = readConfigFile(file, { acceptPipes: false });
  return { layer: fileLayer({ kind: 'user', file, text, shown: file }), file };
}

// What cannot even be looked at is not missing: reading it says why. It may be what makes things strict.
function isMissing(file: string): boolean {
  try {
    return entryStat(file) === undefined;
  } catch {
    return false;
  }
}

function middleLayer(sources: ConfigSources, person: PersonLayers): MiddleLayer {
  const { cwd, env } = sources;
  const named = sources.configFile ?? (env[CONFIG_VARIABLE] || undefined);
  if (named !== undefined) return { layer: namedLayer(named, cwd), ignored: [], warnings: [] };
  const file = findProjectFile(cwd);
  if (file === undefined) return { layer: EMPTY_LAYER, ignored: [], warnings: [] };
  return projectLayer(file, sources, person);
}

function namedLayer(named: string, cwd: string): ConfigLayer {
  const file = resolve(cwd, named);
  const { text } = readConfigFile(file, { acceptPipes: true }, named);
  return fileLayer({ kind: 'file', file, text, shown: named });
}

function projectLayer(file: string, { cwd, env }: ConfigSources, person: PersonLayers): MiddleLayer {
  const { bytes, text } = readConfigFile(file, { acceptPipes: false });
  const layer = fileLayer({ kind: 'project', file, text, shown: file });
  const { trusted, warnings } = judgeTrust(file, bytes, env);
  const project = { file, trusted };
  if (trusted) {
    const roots = layer.get(ROOTS);
    if (roots !== undefined) requireSteadyRoots(roots);
    return { layer, project, ignored: [], warnings };
  }
  const restrained = restrainLayer(layer, {
    base: person.user,
    baseRoots: rootsOf(person.user, cwd),
    ownPatterns: patternsOf(person),
  });
  return { ...restrained, project, warnings };
}

/** A record that cannot be read trusts nothing, and says so. */
function judgeTrust(
  file: string,
  bytes: Uint8Array,
  env: ConfigSources['env'],
): { readonly trusted: boolean; readonly warnings: readonly string[] } {
  try {
    return { trusted: isTrustedText(file, bytes, env), warnings: [] };
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    return { trusted: false, warnings: [`${error.message} Until then no project is trusted.`] };
  }
}

/** What tools may touch without a project's file, by real paths. */
function rootsOf(user: ConfigLayer, cwd: string): readonly string[] {
  const own = user.get(ROOTS);
  if (own === undefined) return [realPlace(cwd)];
  return textsOf(own.value).flatMap((root) => realPath(resolve(own.directory, root)) ?? []);
}

function patternsOf({ user, environment, flags }: PersonLayers): readonly string[] {
  return [user, environment, flags].flatMap((layer) =>
    ['tools.sandbox.denied_patterns', 'tools.sandbox.denied_write_patterns'].flatMap((key) =>
      textsOf(layer.get(key)?.value),
    ),
  );
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

interface ResolvedKey extends ResolvedSetting {
  /** The strongest one that names the key. */
  readonly setting: LayerSetting | undefined;
}

function resolveKey(key: string, known: ConfigKey, layers: readonly ConfigLayer[]): ResolvedKey {
  const naming = layers.flatMap((layer) => layer.get(key) ?? []);
  const [setting] = naming;
  if (setting === undefined) {
    return { key, value: known.fallback, origins: [{ kind: 'default' }], setting };
  }
  if (known.isAdditive !== true) return { key, value: setting.value, origins: setting.origins, setting };
  const value = [...new Set(naming.flatMap((one) => listOf(one.value)))];
  const origins: readonly ConfigOrigin[] = naming.flatMap((one) => one.origins);
  return { key, value, origins, setting };
}

const RULES_KEY = 'tools.approval.rules';

/** The rules of all files, each with its place: who has written a rule says what it may do. */
function tiersOf(layers: readonly ConfigLayer[], projectMayAllow: boolean): Partial<PolicyOptions> {
  const rules = layers.flatMap((layer) => placedRules(layer.get(RULES_KEY)));
  if (rules.length === 0) return {};
  const of = (tier: RuleTier): readonly PolicyRule[] => rules.filter(({ origin }) => origin?.tier === tier);
  return { tiers: { user: of('user'), project: of('project') }, projectMayAllow };
}

function placedRules(setting: LayerSetting | undefined): readonly PolicyRule[] {
  const [origin] = setting?.origins ?? [];
  if (setting === undefined || origin === undefined || !('file' in origin)) return [];
  const tier = origin.kind === 'project' ? 'project' : 'user';
  const { file } = origin;
  const written = listOf(setting.value);
  return listOf(RULES.toOption(setting.value, setting.directory)).map((rule, index) => ({
    ...(rule as PolicyRule),
    origin: { tier, file, line: setting.lineOf?.(written[index]) ?? origin.line },
  }));
}

function withTiers(configuration: Configuration, tiers: Partial<PolicyOptions>): Configuration {
  if (tiers.tiers === undefined) return configuration;
  const { executor } = configuration;
  return { ...configuration, executor: { ...executor, policy: { ...executor.policy, ...tiers } } };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
