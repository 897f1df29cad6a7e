import type { ObjectSettings } from '../config/configuration.js';
import type { Journal } from '../contract/journal.js';
import type { ObjectStore } from '../contract/object-store.js';
import { ToolError } from '../errors/tool-error.js';
import { glanceAtArchive, type JournalArchive } from '../journal/open-archive.js';
import { type JournalOptions, openJournal } from '../journal/open-journal.js';
import { type SnapshotScope, snapshotOf } from '../journal/snapshot-journal.js';
import { probePlace } from '../platform/fs/probe-place.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import { UsageError } from './cli-context.js';
import { databaseAt, isDatabase } from './journal-databases.js';

/** Opens a journal of the command for writing. @throws ToolError */
export async function openStore(place: string, options: JournalOptions = {}): Promise<Journal> {
  if (!isDatabase(place)) return openJournal(place, options);
  if (options.redactArguments !== undefined && options.redactArguments !== false) {
    const message =
      'journal.redact is for journals in files: a database that several machines share would keep the arguments. Remove it, or fleet.url.';
    throw new ToolError('config_invalid', message);
  }
  const { postgresJournal } = await import('../journal/postgres/open-postgres-journal.js');
  const { objects: settings, ...database } = databaseAt(place);
  const objects = settings === undefined ? {} : { objects: await openObjects(settings) };
  return postgresJournal({ ...database, ...objects, pool: MOST_CONNECTIONS });
}

/** @throws ToolError `config_invalid` if something is missing */
async function openObjects(settings: ObjectSettings): Promise<ObjectStore> {
  const { endpoint, bucket, region } = settings;
  const { accessKeyEnv = 'AWS_ACCESS_KEY_ID', secretKeyEnv = 'AWS_SECRET_ACCESS_KEY' } = settings;
  const needed = { endpoint, bucket };
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined) throw new ToolError('config_invalid', `fleet.objects needs \`${name}\` too.`);
  }
  const environment = readEnvironment();
  const [accessKeyId, secretAccessKey] = [accessKeyEnv, secretKeyEnv].map((name) => {
    const value = environment[name];
    if (value !== undefined && value !== '') return value;
    throw new ToolError(
      'config_invalid',
      `fleet.objects needs the environment variable ${name}, which is not set.`,
    );
  });
  const { s3Objects } = await import('../journal/postgres/s3-objects.js');
  return s3Objects({
    endpoint: endpoint ?? '',
    bucket: bucket ?? '',
    ...(region === undefined ? {} : { region }),
    accessKeyId: accessKeyId ?? '',
    secretAccessKey: secretAccessKey ?? '',
  });
}

/** A command needs few connections; a fleet has many processes, and connections run out first. */
const MOST_CONNECTIONS = 5;

/** Opens the current content of a journal for reading. @param scope the part to read, for a journal in a database */
export async function openArchiveAt(place: string, scope: SnapshotScope = {}): Promise<JournalArchive> {
  if (!isDatabase(place)) return glanceAtArchive(place);
  const journal = await openStore(place);
  try {
    return await snapshotOf(journal, scope);
  } finally {
    await journal.close();
  }
}

/** Whether the journal exists. A database creates its tables with the first operation. */
export function isStored(place: string): boolean {
  return isDatabase(place) || probePlace(place).exists;
}

/**
 * @param remedy the alternative for a user whose journal is a database
 * @throws UsageError for a command that reads files only
 */
export function requireFile(
  place: string,
  remedy = 'Name a file with --journal, or use journal list, journal show, journal report or watch',
): string {
  if (!isDatabase(place)) return place;
  throw new UsageError(`This command reads journals in files, and fleet.url names ${place}. ${remedy}.`);
}
