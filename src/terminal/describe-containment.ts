import type { Picture } from '../contract/picture.js';
import { isSideEffecting } from '../effects/traits.js';

/**
 * What stands around a call, in a few words: `contained: no network, can be undone`. Of a call that runs no command only what
 * a person may not expect; none of a call that changes nothing, or of which it is not known.
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
