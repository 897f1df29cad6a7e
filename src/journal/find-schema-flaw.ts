import type { JournalDatabase } from './journal-database.js';
import { IN_MEMORY } from './journal-place.js';
import { openJournalDatabase } from './open-journal-database.js';

/**
 * What is not as this version makes it: a table, an index or a trigger that is gone or says something else, or a trigger
 * that is not ours. Triggers decide what counts as unfinished, and the chain does not cover them.
 */
export function findSchemaFlaw(database: JournalDatabase): string | undefined {
  const ours = schemaOfNew();
  const found = schemaOf(database);
  for (const [name, sql] of ours) {
    if (found.get(name) !== sql) return `the ${name} is not the one that it was made with`;
  }
  const stranger = [...found.keys()].find((name) => name.startsWith('trigger ') && !ours.has(name));
  return stranger === undefined ? undefined : `the ${stranger} is not one of a journal`;
}

const OBJECTS = "SELECT type || ' ' || name AS name, sql FROM journal.sqlite_schema WHERE sql IS NOT NULL";

function schemaOf(database: JournalDatabase): ReadonlyMap<string, string> {
  return new Map(
    database
      .prepared(OBJECTS)
      .all()
      .map(({ name, sql }) => [String(name), String(sql)]),
  );
}

function schemaOfNew(): ReadonlyMap<string, string> {
  const fresh = openJournalDatabase(IN_MEMORY);
  try {
    return schemaOf(fresh);
  } finally {
    fresh.close();
  }
}
