import { sanitize } from '../../output/sanitize.js';

/** Wherever an id is taken, so many characters of it are the least. */
const LEAST_CHARACTERS = 8;

/**
 * Ids of batches as lists show them: the shortest beginning that no other batch of the journal has. Commands take it
 * for the whole id.
 * @param idsBeginningWith all ids of the journal with a beginning
 */
export function shortIds(idsBeginningWith: (prefix: string) => readonly string[]): (id: string) => string {
  const neighbours = new Map<string, readonly string[]>();
  return (id) => {
    const prefix = id.slice(0, LEAST_CHARACTERS);
    const others = neighbours.get(prefix) ?? idsBeginningWith(prefix);
    neighbours.set(prefix, others);
    let length = LEAST_CHARACTERS;
    for (const other of others) if (other !== id) length = Math.max(length, sharedLength(id, other) + 1);
    return sanitize(id.slice(0, length), 'inline');
  };
}

function sharedLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
