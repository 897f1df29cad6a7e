import type { Picture } from '../contract/picture.js';
import { isSideEffecting } from '../effects/traits.js';

/**
 * Describes the containment of a call in a few words: `contained: no network, can be undone`. For a call
 * without commands, only unexpected facts; nothing for a call that changes nothing, or if it is unknown.
 */
export function describeContainment({
  containment,
  effects,
}: Pick<Picture, 'containment' | 'effects'>): readonly string[] {
  if (containment === undefined || !(containment.transaction || isSideEffecting(effects))) return [];
  const { transaction, network, undo } = containment;
  const words = [network ? 'reaches the network' : 'no network', undo ? 'can be undone' : 'cannot be undone'];
  if (transaction) return [`${network ? 'in a transaction' : 'contained'}: ${words.join(', ')}`];
  if (effects.some(({ kind }) => kind === 'run')) return [`not contained: ${words.join(', ')}`];
  const unusual = words.filter((_, index) => (index === 0 ? network : !undo));
  return unusual.length === 0 ? [] : [unusual.join(', ')];
}
