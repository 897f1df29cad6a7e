import { resolve } from 'node:path';
import { isToolError } from '../errors/tool-error.js';
import { type JournalArchive, openArchive } from '../journal/open-archive.js';
import { type JournalOptions, openJournal } from '../journal/open-journal.js';
import type { SnapshotScope } from '../journal/snapshot-journal.js';
import { anchorPath, lossWarning } from '../journal/sqlite/journal-anchor.js';
import { isEmptyJournal } from '../journal/sqlite/open-journal-database.js';
import { probePlace } from '../platform/fs/probe-place.js';
import type { CliContext } from './cli-context.js';
import { UsageError } from './cli-context.js';
import { writeNote } from './display/terminal-text.js';
import { isDatabase } from './journal-databases.js';
import { isStored, openArchiveAt, requireFile } from './journal-store.js';
import { databaseOf, defaultPlace, resolveSettings } from './resolve-settings.js';

/** The options that select a journal. */
export interface JournalChoice {
  readonly journal?: string;
  readonly root?: readonly string[];
  readonly config?: string;
}

/**
 * The named journal file, anywhere, or the default one; undefined if the default does not exist yet.
 * @throws UsageError if a named one does not exist.
 */
export function recordedJournal(
  options: JournalChoice,
  context: Pick<CliContext, 'env'>,
): string | undefined {
  const place = placeOf(options, context);
  if (isStored(place)) return place;
  if (options.journal === undefined) return undefined;
  throw new UsageError(`Cannot read the journal "${options.journal}": there is no such file.`);
}

/** The same for commands that examine the remains of a journal, of which only the anchor may exist. */
export function recordedOrLost(
  options: JournalChoice,
  context: Pick<CliContext, 'env' | 'stdio'>,
): string | undefined {
  const place = requireFile(placeOf(options, context), NO_CHAIN);
  return probePlace(anchorPath(place)).exists ? place : journalIfAny(options, context);
}

const NO_CHAIN =
  'Only a file has a chain of hashes to verify; a database is checked by its server (data checksums, pg_amcheck) and kept by its backups. Name a file with --journal';

function placeOf(options: JournalChoice, context: Pick<CliContext, 'env'>): string {
  if (options.journal === '') throw new UsageError('Cannot read the journal "": name a file.');
  if (options.journal !== undefined) return resolve(options.journal);
  const { executor, fleet = {} } = resolveSettings(options, context).configuration;
  return databaseOf(fleet, undefined) ?? defaultPlace(executor.root?.[0] ?? '.');
}

/** Opens a journal in a file for reading, and warns if it has lost records. @throws ToolError; UsageError for a database */
export function openRecorded(path: string, { stdio }: Pick<CliContext, 'stdio'>): JournalArchive {
  return openArchive(requireFile(path), (loss) => writeNote(stdio, lossWarning(path, loss)));
}

/** The same for a journal in a file or a database. @param scope only this part of a database is read */
export async function openStored(
  place: string,
  context: Pick<CliContext, 'stdio'>,
  scope: SnapshotScope,
): Promise<JournalArchive> {
  return isDatabase(place) ? openArchiveAt(place, scope) : openRecorded(place, context);
}

/** For commands that search a journal. @throws UsageError if there is none. */
export function requireJournal(options: JournalChoice, context: Pick<CliContext, 'env'>): string {
  const place = recordedJournal(options, context);
  if (place !== undefined) return place;
  throw new UsageError(NO_JOURNAL);
}

/**
 * For commands about a whole journal: before the first run there is none, which is reported and is not an
 * error.
 * @throws UsageError if a named one does not exist.
 */
export function journalIfAny(
  options: JournalChoice,
  context: Pick<CliContext, 'env' | 'stdio'>,
): string | undefined {
  const place = recordedJournal(options, context);
  if (place === undefined) writeNote(context.stdio, NO_JOURNAL);
  return place;
}

const NO_JOURNAL =
  'There is no journal yet: nothing was run here. Name one with --journal, or the directory of the run with --root.';

/**
 * For commands that need earlier records, and would otherwise create a journal.
 * @param journal the file, as `resolveRun` gives it
 * @throws UsageError if it does not exist yet
 */
export function requireRecorded(journal: string, action: string): void {
  if (isRecorded(journal)) return;
  throw new UsageError(`Cannot ${action}: ${describeMissing(journal)}. ${REMEDY}`);
}

/** Whether something may be recorded there. Opening an empty file as a journal would write into it. */
export function isRecorded(journal: string): boolean {
  return isStored(journal) && (isDatabase(journal) || !isEmptyJournal(journal));
}

export function describeMissing(journal: string): string {
  const what = isStored(journal) ? `the file "${journal}" is empty` : `there is no journal "${journal}"`;
  return `${what}, so nothing was run with it`;
}

const REMEDY = 'Name the one of the run with --journal, or its directory with --root.';

/**
 * For processes that serve for long: they do not begin with a file that cannot be their journal. A database may become
 * reachable later.
 * @throws UsageError
 */
export async function requireUsable(place: string, options: JournalOptions): Promise<void> {
  if (isDatabase(place)) return;
  const journal = openJournal(place, options);
  try {
    await readingJournal(() => journal.batches({ limit: 1 }));
  } finally {
    await journal.close();
  }
}

/** Turns faults of a journal's file into usage errors. @throws UsageError */
export async function readingJournal<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isToolError(error, 'journal_unavailable')) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
