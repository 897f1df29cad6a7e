import type { CallKey, LiveText } from '../../contract/journal.js';
import { LIVE_MS, MOST_KEPT, MOST_TEXTS } from '../records/live-text.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

const ADD = 'INSERT INTO live_texts (call, stream, start, text, printed_at) VALUES (?, ?, ?, ?, ?)';
const DROP = `
  DELETE FROM live_texts WHERE number <= (SELECT max(number) FROM live_texts) - ?1 OR
    (number <= (SELECT min(number) FROM live_texts) + 64 AND printed_at < ?2)`;

/** Keeps the live output of calls. It may be lost with the power. */
export function recordLiveTexts(texts: readonly LiveText[], at: number): Operation<void> {
  return {
    writes: true,
    isLazy: true,
    run(database) {
      for (const { key, stream, from, text } of texts)
        database.prepared(ADD).run(toStoredText(key), stream, from, toStoredText(text), at);
      database.prepared(DROP).run(MOST_KEPT, at - LIVE_MS);
    },
  };
}

const OF_CALL =
  'SELECT stream, start, text FROM live_texts WHERE call = ? AND start >= ? ORDER BY start LIMIT ?';

export function readLiveTexts(
  database: JournalDatabase,
  places: ReadonlyMap<CallKey, number>,
): readonly LiveText[] {
  const found: LiveText[] = [];
  for (const [key, place] of places) {
    const rows = database.prepared(OF_CALL).all(toStoredText(key), place, MOST_TEXTS - found.length);
    for (const values of rows) {
      const row = new JournalRow(values);
      const stream = row.rawText('stream') === 'stderr' ? 'stderr' : 'stdout';
      found.push({ key, stream, from: row.number('start'), text: fromStoredText(row.rawText('text')) });
    }
  }
  return found;
}
