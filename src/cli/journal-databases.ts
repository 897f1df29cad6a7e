import type { ObjectSettings } from '../config/configuration.js';
import { addressOf, isPostgresAddress } from '../journal/postgres/address.js';
import { UsageError } from './cli-context.js';

interface Database {
  readonly url: string;
  readonly tenant?: string;
  readonly objects?: ObjectSettings;
}

/**
 * The databases of this process by their place, which is the address without user and password. Commands pass and show
 * the place like the path of a file; the password stays here.
 */
const databases = new Map<string, Database>();

/** @returns the place of the journal in the database of `[fleet] url` */
export function placeOfDatabase(database: Database): string {
  const place = addressOf(database.url);
  databases.set(place, database);
  return place;
}

/** Whether the journal is in a database, and not in a file. */
export function isDatabase(place: string): boolean {
  return isPostgresAddress(place);
}

/** @throws UsageError for a place that the configuration does not name */
export function databaseAt(place: string): Database {
  const database = databases.get(place);
  if (database === undefined)
    throw new UsageError(`Cannot use the journal "${place}": fleet.url does not name it.`);
  return database;
}
