import { join } from 'node:path';
import { covers } from '../base/covers.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { wayTo } from '../platform/fs/way-to.js';
import { configDirectory, stateDirectory } from '../platform/runtime/environment.js';

/**
 * The directories on which this program and its next start depend: the user's configuration, trusted
 * projects, and records.
 */
export function ownDirectories(roots: readonly string[]): readonly string[] {
  return ownPlaces()
    .map(realPlace)
    .filter((directory) => isInside(directory, roots));
}

/**
 * In the roots, in lower case: the links and directories (which may be missing) that lead to them and to the journal.
 */
export function waysToOwn(roots: readonly string[], journalFile: string | undefined): ReadonlySet<string> {
  return new Set(ways(roots, journalFile).map((entry) => entry.toLowerCase()));
}

/** Whether one of them is a link: no mount over a link could keep it in place. */
export function isLedByLink(roots: readonly string[], journalFile: string | undefined): boolean {
  return ways(roots, journalFile).some((entry) => entryStat(entry)?.isSymbolicLink() === true);
}

function ways(roots: readonly string[], journalFile: string | undefined): readonly string[] {
  const places = [...ownPlaces(), ...(journalFile === undefined ? [] : [journalFile])];
  return places.flatMap((place) => [...wayTo(place)]).filter((entry) => isInside(entry, roots));
}

/**
 * Deny patterns for these files, and for the files that git and fish run if the user's configuration is not in its
 * usual place.
 */
export function ownPatterns(roots: readonly string[], journalFile: string | undefined): readonly string[] {
  const home = realPlace(configDirectory());
  const startFiles = START_FILES.map((name) => join(home, name)).filter((path) => isInside(path, roots));
  const directories = [...ownDirectories(roots), ...startFiles].map((path) => `${escaped(path)}/**`);
  const journal = journalFile === undefined ? undefined : realPlace(journalFile);
  // Including the files beside it: its log, whole outputs, the changes of commands.
  return journal !== undefined && isInside(journal, roots)
    ? [...directories, `${escaped(journal)}*`]
    : directories;
}

const START_FILES = ['git/config', 'fish/config.fish', 'fish/conf.d', 'fish/functions'];

function escaped(path: string): string {
  return path.replace(/[*?[\]{}()!@+|\\]/g, '\\$&');
}

function ownPlaces(): readonly string[] {
  return [configDirectory(), stateDirectory()].map((home) => join(home, 'toolexec'));
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => root !== path && covers(root, path));
}
