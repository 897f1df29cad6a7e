import { isDeepStrictEqual } from 'node:util';
import { CONFIG_KEYS } from './config-keys.js';
import type { ConfigLayer, ConfigOrigin, LayerSetting } from './config-layer.js';
import type { TightenScope } from './tighten.js';

/** What an untrusted project's file asked for and did not get. */
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
  /** The person's own configuration: what holds without the file. */
  readonly base: ConfigLayer;
}

/** What of a project's file holds before anybody has trusted it: that which only tightens. */
export function restrainLayer(layer: ConfigLayer, scope: RestrainScope): RestrainedLayer {
  const kept = new Map<string, LayerSetting>();
  const ignored: IgnoredSetting[] = [];
  for (const [key, setting] of layer) {
    const { kept: tightened, reason } = restrain(key, setting, scope);
    if (tightened !== undefined) kept.set(key, tightened);
    if (reason !== undefined) ignored.push({ key, value: setting.value, ...placeOf(setting), reason });
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
  // To say what holds anyway changes nothing, and is not even taken: a timeout that is named beats a tool's own.
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
