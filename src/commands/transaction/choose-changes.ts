import type { ChosenPaths } from '../../contract/changes.js';
import type { ScannedChanges } from './found-changes.js';
import type { namingIn } from './report-changes.js';
import type { PlannedChange } from './transaction-plan.js';

/**
 * The changes of the chosen paths, and the changes that these need: the directories above a new path, the
 * content of a removed directory, and the rest of a repository.
 * @param scanned moves no directory as a whole
 */
export function chooseChanges(
  scanned: ScannedChanges,
  { only }: ChosenPaths,
  name: ReturnType<typeof namingIn>,
): ScannedChanges {
  const wanted = new Set(only.map(withoutSlash));
  const { changes } = scanned;
  const kept = new Set<string>();
  for (const change of changes) {
    const isNamed = wanted.has(withoutSlash(name(change.root, change.path, change.kind === 'dir')));
    if (isNamed) kept.add(placeOf(change));
  }
  for (const git of repositoriesOf(changes, kept))
    for (const change of changes) if (`${placeOf(change)}/`.startsWith(`${git}/`)) kept.add(placeOf(change));
  const gone = changes.filter((change) => change.change === 'delete' && kept.has(placeOf(change)));
  const isBelowGone = (place: string): boolean =>
    gone.some((change) => change.kind === 'dir' && place.startsWith(`${placeOf(change)}/`));
  for (const change of changes)
    if (change.change === 'delete' && isBelowGone(placeOf(change))) kept.add(placeOf(change));
  const above = new Set([...kept].flatMap(directoriesAbove));
  const isMade = ({ change, kind }: PlannedChange): boolean => kind === 'dir' && change === 'create';
  const made = new Set(changes.filter(isMade).map(placeOf));
  return {
    ...scanned,
    changes: changes.filter((change) => {
      const place = placeOf(change);
      // If a new directory replaces a file, both changes belong to it.
      return kept.has(place) || (above.has(place) && made.has(place));
    }),
  };
}

function placeOf({ root, path }: Pick<PlannedChange, 'root' | 'path'>): string {
  return `${root}/${path}`;
}

/** The repositories in which at least one change is kept. */
function repositoriesOf(changes: readonly PlannedChange[], kept: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const change of changes) {
    const place = placeOf(change);
    const [git] = kept.has(place) ? (/^.*?\/\.git(?=\/|$)/.exec(place) ?? []) : [];
    if (git !== undefined) found.add(git);
  }
  return found;
}

function directoriesAbove(place: string): string[] {
  const parts = place.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
