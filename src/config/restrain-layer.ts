import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { covers } from '../base/covers.js';
import { showPath, showValue } from '../base/show-setting.js';
import { realPath } from '../platform/fs/fs-entry.js';
import { CONFIG_KEYS } from './config-keys.js';
import type { ConfigLayer, ConfigOrigin, LayerSetting } from './config-layer.js';
import { type ConfigProblem, configInvalid } from './config-problem.js';
import type { TightenScope } from './tighten.js';

/** A value as messages show it. */
export function shownValue(key: string, value: unknown): unknown {
  const shown = CONFIG_KEYS[key]?.kind.shown;
  return shown === undefined || value === undefined ? value : shown(value);
}

/** A setting of an untrusted project file that was not applied. */
export interface IgnoredSetting {
  readonly key: string;
  readonly value: unknown;
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

export interface RestrainedLayer {
  readonly layer: ConfigLayer;
  readonly ignored: readonly IgnoredSetting[];
}

export interface RestrainScope extends Pick<TightenScope, 'baseRoots' | 'ownPatterns'> {
  /** The person's own configuration, which applies without the file. */
  readonly base: ConfigLayer;
}

/** The part of an untrusted project file that applies: settings that only tighten. */
export function restrainLayer(layer: ConfigLayer, scope: RestrainScope): RestrainedLayer {
  const kept = new Map<string, LayerSetting>();
  const ignored: IgnoredSetting[] = [];
  for (const [key, setting] of layer) {
    const { kept: tightened, reason } = restrain(key, setting, scope);
    if (tightened !== undefined) kept.set(key, tightened);
    if (reason !== undefined)
      ignored.push({ key, value: shownValue(key, setting.value), ...placeOf(setting), reason });
  }
  return { layer: kept, ignored };
}

interface Restrained {
  readonly kept?: LayerSetting;
  readonly reason?: string;
}

function restrain(key: string, setting: LayerSetting, { base, ...scope }: RestrainScope): Restrained {
  const known = CONFIG_KEYS[key];
  if (known === undefined) return {};
  const own = base.get(key);
  const held = own === undefined ? known.fallback : own.value;
  // A setting that changes nothing is skipped, because an explicit timeout would override a tool's own.
  if (isDeepStrictEqual(setting.value, held)) return {};
  const { directory } = setting;
  const isBaseNamed = own !== undefined;
  const tightened = known.tighten.apply(setting.value, { ...scope, base: held, isBaseNamed, directory });
  const { value, reason, isJoined } = tightened;
  const told = reason === undefined ? {} : { reason };
  if (value === undefined || isDeepStrictEqual(value, held)) return told;
  const others = isJoined === true ? (own?.origins ?? DEFAULT_ORIGIN) : [];
  return { ...told, kept: { ...setting, value, origins: [...setting.origins, ...others] } };
}

const DEFAULT_ORIGIN: readonly ConfigOrigin[] = [{ kind: 'default' }];

function placeOf({ origins }: LayerSetting): { readonly file: string; readonly line: number } {
  const origin = origins[0];
  if (origin === undefined || !('file' in origin)) throw new Error('a file that is restrained is a file');
  return { file: origin.file, line: origin.line };
}

/** A setting that is not applied because the administrator has fixed it. */
export interface WithheldSetting {
  readonly key: string;
  readonly value: unknown;
  readonly origin: ConfigOrigin | undefined;
  readonly reason: string;
}

/**
 * The part of a layer that applies below the administrator's settings: for those keys only tightening values.
 * Rules stay, because their tiers enforce the same for each call.
 */
export function holdToFixed(
  layer: ConfigLayer,
  fixed: ConfigLayer,
  fixedRoots: readonly string[],
): { readonly layer: ConfigLayer; readonly withheld: readonly WithheldSetting[] } {
  if (fixed.size === 0 || layer.size === 0) return { layer, withheld: [] };
  const kept = new Map<string, LayerSetting>();
  const withheld: WithheldSetting[] = [];
  for (const [key, setting] of layer) {
    const [base, known] = [fixed.get(key), CONFIG_KEYS[key]];
    if (base === undefined || known === undefined || known.isAdditive === true) {
      kept.set(key, setting);
      continue;
    }
    if (isDeepStrictEqual(setting.value, base.value)) continue;
    const { value, reason, isJoined } = known.tighten.apply(setting.value, {
      base: base.value,
      isBaseNamed: true,
      directory: setting.directory,
      baseRoots: fixedRoots,
      ownPatterns: [],
    });
    const origins = isJoined === true ? [...setting.origins, ...base.origins] : setting.origins;
    if (value !== undefined && !isDeepStrictEqual(value, base.value))
      kept.set(key, { ...setting, value, origins });
    if (reason !== undefined)
      withheld.push({ key, value: shownValue(key, setting.value), origin: setting.origins[0], reason });
  }
  return { layer: kept, withheld };
}

/**
 * Refuses roots of a trusted project that are links out of it. The trusted hash covers the name `data`, but
 * the next commit can change the target of such a link.
 * @throws ToolError `config_invalid` with the real path, which can be used instead.
 */
export function requireSteadyRoots({ value, directory, origins }: LayerSetting): void {
  const problems = (Array.isArray(value) ? value : []).flatMap((root) => {
    const written = resolve(directory, String(root));
    const real = realPath(written);
    if (real === undefined || !covers(directory, written) || covers(directory, real)) return [];
    const message = `${showValue(root)} is a link that leads to ${showValue(real)}. Write that path itself.`;
    return [problemOf(origins, `tools.sandbox.allowed_roots: ${message}`)];
  });
  if (problems.length > 0) throw configInvalid(problems);
}

function problemOf([origin]: LayerSetting['origins'], message: string): ConfigProblem {
  const at =
    origin !== undefined && 'file' in origin ? `${showPath(origin.file)}:${origin.line}` : 'toolexec.toml';
  return { noun: 'the configuration', source: at, message: () => message };
}
