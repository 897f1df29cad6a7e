import { dirname, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { showPath } from '../base/show-setting.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { foreignFlaw } from '../platform/fs/foreign-file.js';
import { entryStat, realPath } from '../platform/fs/fs-entry.js';
import { foreignReach } from '../platform/fs/out-of-reach.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { homeOf } from '../platform/runtime/environment.js';
import { userConfigFile } from './add-user-rule.js';
import { ADMINISTRATOR_PLACE, type AdministratorPlace, administratorLayer } from './administrator-file.js';
import { CONFIG_KEYS } from './config-keys.js';
import {
  CONFIG_VARIABLE,
  type ConfigLayer,
  type ConfigOrigin,
  EMPTY_LAYER,
  environmentLayer,
  fileLayer,
  flagLayer,
  unknownVariables,
} from './config-layer.js';
import type { Configuration } from './configuration.js';
import { toConfiguration } from './load-config.js';
import { findProjectFile, readConfigFile } from './read-config-file.js';
import { type ResolvedSetting, RULES_KEY, resolveKey, tiersOf, withTiers } from './resolve-key.js';
import {
  holdToFixed,
  type IgnoredSetting,
  requireSteadyRoots,
  restrainLayer,
  type WithheldSetting,
} from './restrain-layer.js';
import { isTrustedText } from './trust-project.js';

export type { ConfigOrigin } from './config-layer.js';
export type { ResolvedSetting } from './resolve-key.js';
export type { IgnoredSetting } from './restrain-layer.js';

export interface ConfigSources {
  /** Absolute. The project's `toolexec.toml` is searched here and in parents up to the one with `.git`. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Trusted; replaces the project's file. Default: the file in `TOOLEXEC_CONFIG`. */
  readonly configFile?: string;
  /** By full key name, in the file's notation. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Default: the fixed path. For tests, which may not write there. */
  readonly administrator?: AdministratorPlace;
}

export interface ResolvedConfig {
  /** All explicit settings as options. */
  readonly configuration: Configuration;
  /** Every key, in table order. */
  readonly settings: readonly ResolvedSetting[];
  readonly project?: { readonly file: string; readonly trusted: boolean };
  /** The person's own configuration, if it exists. */
  readonly userFile?: string;
  /** The administrator's file, if it exists and counts. */
  readonly administratorFile?: string;
  readonly ignored: readonly IgnoredSetting[];
  /** One line each. */
  readonly warnings: readonly string[];
}

/**
 * Resolves the command's configuration (D113–D123): options override `TOOLEXEC_*`, which overrides the
 * project's file, which overrides the person's own, which overrides the default. An untrusted project file
 * may only tighten, and nothing may loosen the administrator's settings.
 * @throws ToolError `config_invalid` with the position of the first problem in the first faulty source.
 */
export function resolveConfig(sources: ConfigSources): ResolvedConfig {
  const { cwd, env, flags = {} } = sources;
  const administrator = administratorLayer(sources.administrator ?? ADMINISTRATOR_PLACE);
  const fixed: FixedLayer = { layer: administrator.layer, roots: rootsOf(administrator.layer, cwd) };
  const user = userLayer(env);
  const own = below(fixed, user.layer);
  const variables = below(fixed, environmentLayer(env, cwd));
  const options = below(fixed, flagLayer(flags, cwd));
  const person: PersonLayers = { user: own.layer, environment: variables.layer, flags: options.layer };
  const middle = middleLayer(sources, person, fixed);
  const layers = [person.flags, person.environment, middle.layer, person.user, fixed.layer];
  const settings = Object.entries(CONFIG_KEYS).map(([key, known]) => resolveKey(key, known, layers));
  const named = settings.filter(({ setting }) => setting !== undefined);
  return {
    configuration: withTiers(
      toConfiguration(
        named
          .filter(({ resolved: { key } }) => key !== RULES_KEY)
          .map(({ resolved: { key, value }, setting }) => ({
            key,
            value,
            directory: setting?.directory ?? cwd,
          })),
      ),
      tiersOf(layers, middle.project?.trusted === true),
    ),
    settings: settings.map(({ resolved }) => resolved),
    ...(middle.project === undefined ? {} : { project: middle.project }),
    ...(user.file === undefined ? {} : { userFile: user.file }),
    ...(administrator.file === undefined ? {} : { administratorFile: administrator.file }),
    ignored: middle.ignored,
    warnings: [
      ...administrator.warnings,
      ...homeWarning(layers, sources),
      ...[options, variables, own].flatMap(({ warnings }) => warnings),
      ...middle.warnings,
      ...unknownVariables(env),
    ],
  };
}

/** The administrator's settings. */
interface FixedLayer {
  readonly layer: ConfigLayer;
  /** Real paths; the working directory if none are set. */
  readonly roots: readonly string[];
}

function below(
  fixed: FixedLayer,
  layer: ConfigLayer,
): { readonly layer: ConfigLayer; readonly warnings: readonly string[] } {
  const held = holdToFixed(layer, fixed.layer, fixed.roots);
  return { layer: held.layer, warnings: held.withheld.map(describeWithheld) };
}

function describeWithheld({ key, value, origin, reason }: WithheldSetting): string {
  const by = origin === undefined || origin.kind === 'flag' ? 'An option' : sourceOf(origin);
  return `${by} sets ${key} = ${JSON.stringify(value)}, which is not applied: the administrator has fixed it, and ${reason}`;
}

function sourceOf(origin: Exclude<ConfigOrigin, { readonly kind: 'flag' }>): string {
  if (origin.kind === 'environment') return origin.variable;
  return origin.kind === 'default' ? 'The default' : `${origin.file}:${origin.line}`;
}

const ROOTS = 'tools.sandbox.allowed_roots';

/** The person's settings from all sources. */
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
  const file = userConfigFile(env);
  if (isMissing(file)) return { layer: EMPTY_LAYER };
  requireOwn(file);
  const { text } = readConfigFile(file, { acceptPipes: false });
  return { layer: fileLayer({ kind: 'user', file, text, shown: file }), file };
}

/**
 * A file with restrictions must not be ignored: if it cannot be trusted, nothing runs. @throws ToolError
 * `config_invalid`
 */
function requireOwn(file: string): void {
  const flaws = [dirname(file), file].map((path) => [showPath(path), foreignFlaw(path)] as const);
  const near = flaws.find(([, flaw]) => flaw !== undefined)?.join(' ');
  const why = near ?? foreignReach(file);
  if (why === undefined) return;
  const remedy = 'Look at it, then make it your own, and let only you write it (chown, chmod go-w).';
  throw new ToolError(
    'config_invalid',
    `Cannot apply your configuration "${showPath(file)}": ${why}. ${remedy}`,
  );
}

/** A root with the home directory contains everything that the person's programs read at their start. */
function homeWarning(layers: readonly ConfigLayer[], { cwd, env }: ConfigSources): readonly string[] {
  const layer = layers.find((one) => one.has(ROOTS)) ?? EMPTY_LAYER;
  const home = realPlace(homeOf(env));
  const root = rootsOf(layer, cwd).find((one) => covers(one, home));
  return root === undefined ? [] : [`${describeHomeRoot(root, home)} ${HOME_REMEDY}`];
}

/** The warning about such a root. */
export function describeHomeRoot(root: string, home: string): string {
  const what = root === home ? 'is your home directory' : 'holds your home directory';
  return `The root ${showPath(root)} ${what}: tools and commands reach everything in it except paths in deny patterns, and can create files that your programs read at their start.`;
}

export const HOME_REMEDY = 'Choose a directory further down.';

// A file that cannot be examined is not missing: it may contain restrictions, so reading it reports the
// reason.
function isMissing(file: string): boolean {
  try {
    return entryStat(file) === undefined;
  } catch {
    return false;
  }
}

function middleLayer(sources: ConfigSources, person: PersonLayers, fixed: FixedLayer): MiddleLayer {
  const { cwd, env } = sources;
  const named = sources.configFile ?? (env[CONFIG_VARIABLE] || undefined);
  if (named !== undefined) return { ...below(fixed, namedLayer(named, cwd)), ignored: [] };
  const file = findProjectFile(cwd);
  if (file === undefined) return { layer: EMPTY_LAYER, ignored: [], warnings: [] };
  return projectLayer(file, sources, person, fixed);
}

function namedLayer(named: string, cwd: string): ConfigLayer {
  if (named === '') throw new ToolError('config_invalid', 'Cannot read the configuration "": name a file.');
  const file = resolve(cwd, named);
  const { text } = readConfigFile(file, { acceptPipes: true }, named);
  return fileLayer({ kind: 'file', file, text, shown: named });
}

function projectLayer(
  file: string,
  { cwd, env }: ConfigSources,
  person: PersonLayers,
  fixed: FixedLayer,
): MiddleLayer {
  const { bytes, text } = readConfigFile(file, { acceptPipes: false });
  const layer = fileLayer({ kind: 'project', file, text, shown: file });
  const { trusted, warnings } = decideTrust(file, bytes, env);
  const project = { file, trusted };
  if (trusted) {
    const roots = layer.get(ROOTS);
    if (roots !== undefined) requireSteadyRoots(roots);
    const held = below(fixed, layer);
    return { layer: held.layer, project, ignored: [], warnings: [...warnings, ...held.warnings] };
  }
  const base: ConfigLayer = new Map([...fixed.layer, ...person.user]);
  const restrained = restrainLayer(layer, {
    base,
    baseRoots: rootsOf(base, cwd),
    ownPatterns: patternsOf(person),
  });
  return { ...restrained, project, warnings };
}

/** With an unreadable trust record nothing is trusted, and that is reported. */
function decideTrust(
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

/** The real paths of the roots without a project's file. */
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
