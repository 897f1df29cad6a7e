import { journalFailure } from './journal-failure.js';
import { JournalRow } from './journal-row.js';
import { openJournalReader } from './open-journal-database.js';
import { toStoredText } from './stored-text.js';

/**
 * The conversations of a journal's file that hold a call of this id, the latest first.
 *
 * @throws ToolError `journal_unavailable` when the file cannot be read, or is no journal.
 */
export function findConversations(path: string, callId: string): readonly string[] {
  try {
    const database = openJournalReader(path);
    try {
      const rows = database
        .prepared(
          'SELECT conversation FROM calls WHERE call_id = ? GROUP BY conversation ORDER BY max(number) DESC',
        )
        .all(toStoredText(callId));
      return rows.map((row) => new JournalRow(row).text('conversation'));
    } finally {
      database.close();
    }
  } catch (error) {
    throw journalFailure(path, error);
  }
}
