import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { realPlace } from '../platform/real-place.js';
import { stateDirectory } from '../platform/state-directory.js';
import { UsageError } from './usage-error.js';

/**
 * Where the journal is kept: the named file, else `$XDG_STATE_HOME/toolexec/<hash of the first root>/journal.db`.
 * @throws UsageError when that lies inside a root: tools could rewrite what they have done.
 */
export function journalPlace(named: string | undefined, roots: readonly string[]): string {
  if (named === '') throw new UsageError('Cannot keep a journal in "": name a file.');
  const place = named === undefined ? defaultPlace(roots[0] ?? '.') : resolve(named);
  const root = roots.find((candidate) => covers(realPlace(candidate), realPlace(place)));
  if (root === undefined) return place;
  const remedy =
    named === undefined
      ? 'Choose a smaller --root, or name a --journal outside of it.'
      : 'Name a file outside of it.';
  throw new UsageError(
    `Cannot keep the journal in "${place}": it lies inside the root "${root}", where tools write. ${remedy}`,
  );
}

/** Where a run keeps it when none is named. */
export function defaultPlace(firstRoot: string): string {
  const hash = createHash('sha256').update(realPlace(firstRoot)).digest('hex').slice(0, 32);
  return join(stateDirectory(), 'toolexec', hash, 'journal.db');
}
