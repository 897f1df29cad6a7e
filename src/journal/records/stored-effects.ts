import type { CallEntry } from '../../contract/journal.js';

type Placed = Pick<CallEntry, 'effects' | 'places'>;
type StoredEffect = CallEntry['effects'][number] & { readonly at?: string };

/**
 * The effects of a call as JSON; the place of an effect, if it is recorded, is its `at`. So the hash chain covers it, and
 * no row is needed for it.
 */
export function storeEffects({ effects, places }: Placed): string {
  if (places === undefined) return JSON.stringify(effects);
  return JSON.stringify(
    effects.map((effect, index): StoredEffect => {
      const at = places[index];
      return typeof at === 'string' ? { ...effect, at } : effect;
    }),
  );
}

/** The effects and their places, as they were recorded. */
export function restoreEffects(stored: readonly StoredEffect[]): Placed {
  if (!stored.some(({ at }) => at !== undefined)) return { effects: stored };
  const places: (string | null)[] = [];
  const effects = stored.map(({ at = null, ...effect }) => {
    places.push(at);
    return effect as CallEntry['effects'][number];
  });
  return { effects, places };
}
