import { isDeepStrictEqual } from 'node:util';
import { CONFIG_KEYS } from './config-keys.js';
import type { ConfigLayer, ConfigOrigin, LayerSetting } from './config-layer.js';

/** Something that was asked for, and is not applied because the administrator has fixed it. */
export interface WithheldSetting {
  readonly key: string;
  readonly value: unknown;
  readonly origin: ConfigOrigin | undefined;
  readonly reason: string;
}

/**
 * What of a layer holds below what the administrator has fixed: for those keys only what tightens. Rules are left: their
 * tiers say the same of each call.
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
      withheld.push({ key, value: setting.value, origin: setting.origins[0], reason });
  }
  return { layer: kept, withheld };
}
