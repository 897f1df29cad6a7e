import type { ConversationFact, RecalledFacts } from '../../contract/journal.js';
import type { SqliteRow } from '../../platform/sqlite/sqlite.js';
import { FLEET_TOKENS } from '../records/reserved-conversations.js';
import { toStoredText } from '../records/stored-text.js';
import type { Operation } from './group-commit.js';
import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

const STANDING = 'SELECT value FROM facts WHERE conversation = ? AND key = ? ORDER BY number DESC LIMIT 1';
const ADD = `
  INSERT INTO facts (conversation, key, value, remembered_at) VALUES (?, ?, ?, ?) RETURNING number`;

/** Adds the facts that a conversation does not have yet. */
export function recordFacts(conversation: string, facts: readonly ConversationFact[]): Operation<void> {
  const name = toStoredText(conversation);
  // Serialized at once, so later changes by the caller do not count.
  const rows = facts.map(({ key, value, at }) => [toStoredText(key), JSON.stringify(value), at] as const);
  return {
    writes: true,
    run(database) {
      for (const [key, value, at] of rows) {
        if (database.prepared(STANDING).get(name, key)?.value === value) continue;
        const values = [name, key, value, at];
        const number = Number(database.prepared(ADD).get(...values)?.number);
        database.chain('facts', number, [number, ...values]);
      }
    },
  };
}

const LAST = 'SELECT max(number) AS number FROM facts';
const ALL = `
  SELECT key, value, remembered_at FROM facts
  WHERE number IN (SELECT max(number) FROM facts WHERE conversation = ? GROUP BY key) ORDER BY number`;
// By the row number, which selects few rows; the plus keeps SQLite from scanning the whole conversation.
const SINCE = `
  SELECT key, value, remembered_at FROM facts WHERE number > ? AND +conversation = ? ORDER BY number`;

/** @param since the mark of an earlier recall; left out: all current facts. */
export function readFacts(database: JournalDatabase, conversation: string, since?: number): RecalledFacts {
  const name = toStoredText(conversation);
  const last = database.prepared(LAST).get()?.number;
  // Read first: a fact that is added in between is returned twice, but never missed.
  const mark = typeof last === 'number' ? last : 0;
  if (mark === since) return { facts: [], mark };
  // A mark is invalid if the file was replaced by an older copy.
  const isKnown = since !== undefined && since <= mark;
  const rows = isKnown ? database.prepared(SINCE).all(since, name) : database.prepared(ALL).all(name);
  const facts = new Map<string, ConversationFact>();
  for (const fact of rows.map(toFact)) {
    facts.delete(fact.key);
    facts.set(fact.key, fact);
  }
  return { facts: [...facts.values()], mark };
}

function toFact(values: SqliteRow): ConversationFact {
  const row = new JournalRow(values);
  return { key: row.text('key'), value: row.json(row.rawText('value')), at: row.number('remembered_at') };
}

/**
 * The facts that can be pruned: older than a given time, and either outdated or of a conversation without
 * batches. Never the newest fact, which defines the next number: a mark must never refer to another row.
 */
export const PRUNABLE_FACTS = `
  remembered_at < ? AND conversation <> '${FLEET_TOKENS}' AND number < (SELECT max(number) FROM facts)
  AND (number NOT IN (SELECT max(number) FROM facts GROUP BY conversation, key)
    OR NOT EXISTS (SELECT 1 FROM batches b WHERE b.conversation = facts.conversation))`;
