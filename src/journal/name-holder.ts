import type { JournalDatabase } from './journal-database.js';
import { JournalRow } from './journal-row.js';

/** The delivery that a call's identity names. */
export interface NameHolder {
  readonly number: number;
  readonly toolName: string;
  /** Null: of a conversation without a name, to which nothing attaches. */
  readonly argsHash: string | null;
  /** Its answer is no final word: the same call delivered again is judged anew. */
  readonly isOpen: boolean;
}

/** Deliveries that attached have no row of their own. */
const DELIVERIES = `
  SELECT c.number, c.tool_name, c.args_hash, 
    (json_extract(r.result, '$.error.code') = 'approval_unavailable' OR (
      json_extract(r.result, '$.error.code') = 'journal_unavailable' AND
      json_extract(r.result, '$.error.details.executed') = 'no')) AS open
  FROM calls c LEFT JOIN results r ON r.call = c.number
  WHERE c.conversation = ? AND c.call_id = ? AND c.turn IS ?`;
const ANY = `${DELIVERIES} ORDER BY c.number`;
const ATTACHABLE = `${DELIVERIES} AND c.args_hash IS NOT NULL ORDER BY c.number`;

/**
 * The first delivery; or, where that one was answered before anybody had decided, the next of the same call.
 * @param conversation @param callId @param turn as they are stored.
 */
export function findNameHolder(
  database: JournalDatabase,
  conversation: string,
  callId: string,
  turn: string | null,
  among: 'any' | 'attachable',
): NameHolder | undefined {
  const rows = database.prepared(among === 'any' ? ANY : ATTACHABLE).all(conversation, callId, turn);
  let holder: NameHolder | undefined;
  for (const values of rows) {
    const row = new JournalRow(values);
    const next: NameHolder = {
      number: row.number('number'),
      toolName: row.rawText('tool_name'),
      argsHash: row.has('args_hash') ? row.rawText('args_hash') : null,
      isOpen: row.has('open') && row.number('open') === 1,
    };
    if (holder === undefined || (holder.isOpen && isSameCall(holder, next))) holder = next;
  }
  return holder;
}

export function isSameCall(
  one: Pick<NameHolder, 'toolName' | 'argsHash'>,
  other: Pick<NameHolder, 'toolName' | 'argsHash'>,
): boolean {
  return one.argsHash !== null && one.argsHash === other.argsHash && one.toolName === other.toolName;
}
