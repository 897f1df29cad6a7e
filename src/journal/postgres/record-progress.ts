import { randomUUID } from 'node:crypto';
import type {
  BatchDecision,
  CallRecord,
  Claimant,
  ConversationFact,
  ConversationMessage,
  JournalNote,
  Renewal,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../../contract/journal.js';
import { callKey } from '../records/call-key.js';
import { fromStoredText, toStoredText } from '../records/stored-text.js';
import type { Work } from './connections.js';
import type { WrittenResult } from './keep-contents.js';
import { type CallPlace, readCalls } from './read-calls.js';

export function claimCall(tenant: string, place: CallPlace, worker: Worker, at: number): Work<boolean> {
  const process = JSON.stringify(worker);
  // Recognizes this claim if its answer is lost and it is sent again.
  const token = randomUUID();
  const claim = worker.epoch === undefined ? 'claim_1' : 'claim_3';
  return async ({ query }) => {
    const { rows } = await query<{ readonly claimed: boolean }>(
      `SELECT {s}.${claim}($1, $2, $3::integer, $4, $5, $6::integer, $7, $8::double precision) AS claimed`,
      [
        tenant,
        place.batch,
        place.position,
        process,
        toStoredText(worker.id),
        worker.epoch ?? null,
        token,
        at,
      ],
    );
    return rows[0]?.claimed === true;
  };
}

const END =
  '$1, $2, $3::integer, $4, $5::boolean, $6::double precision, $7::text[], $8::bytea[], $9::boolean';
const FINISH = `SELECT {s}.finish_2(${END}, $10) AS outcome`;
const FINISH_ANY = `SELECT {s}.finish_1(${END}, false) AS outcome`;
const CANCEL = `SELECT {s}.finish_1(${END}, true) AS outcome`;

/** @param rest the values of the statement after those of the result */
function endCall<T extends string>(
  tenant: string,
  place: CallPlace,
  result: WrittenResult,
  at: number,
  statement: string,
  ...rest: readonly (string | null)[]
): Work<T> {
  const { text, contents, error } = result;
  const { code, details } = error ?? {};
  // Not final: a later delivery of the call is evaluated again.
  const isOpen =
    code === 'approval_unavailable' || (code === 'journal_unavailable' && details?.executed === 'no');
  const bytes = [...contents.values()].map((each) => Buffer.from(each));
  return async ({ query }, again) => {
    if (result.failure !== undefined) throw result.failure;
    const { rows } = await query<{ readonly outcome: T }>(statement, [
      ...[tenant, place.batch, place.position, text, isOpen, at],
      ...[[...contents.keys()], bytes, again, ...rest],
    ]);
    const [row] = rows;
    if (row === undefined) throw new Error('the server gave no answer');
    return row.outcome;
  };
}

export function finishCall(
  tenant: string,
  place: CallPlace,
  result: WrittenResult,
  at: number,
  claimant: Claimant | undefined,
): Work<'recorded' | 'late' | 'claimed'> {
  // A caller without types may pass no claimant, and then ends any claim of the call.
  if (claimant === undefined) return endCall(tenant, place, result, at, FINISH_ANY);
  return endCall(
    ...[tenant, place, result, at],
    FINISH,
    claimant === 'queued' ? null : toStoredText(claimant.id),
  );
}

export function cancelCall(
  tenant: string,
  place: CallPlace,
  result: WrittenResult,
  at: number,
): Work<'cancelled' | 'asked' | 'done'> {
  const end = endCall<'recorded' | 'asked' | 'done'>(tenant, place, result, at, CANCEL);
  return async (connection, again) => {
    const outcome = await end(connection, again);
    return outcome === 'recorded' ? 'cancelled' : outcome;
  };
}

export function noteFact(tenant: string, place: CallPlace, note: JournalNote): Work<void> {
  const data = JSON.stringify(note.data);
  return async ({ query }, again) => {
    await query('SELECT {s}.note_1($1, $2, $3::integer, $4, $5, $6::double precision, $7::boolean)', [
      ...[tenant, place.batch, place.position, note.kind, data, note.at, again],
    ]);
  };
}

export function decideBatch(tenant: string, batchId: string, decision: BatchDecision): Work<boolean> {
  const data = JSON.stringify(decision.data);
  const { why } = decision.data;
  return async ({ query }, again) => {
    const { rows } = await query<{ readonly counts: boolean }>(
      'SELECT {s}.decide_1($1, $2, $3, $4, $5, $6::double precision, $7::boolean) AS counts',
      [
        ...[tenant, toStoredText(batchId), decision.kind, data],
        ...[typeof why === 'string' ? toStoredText(why) : null, decision.at, again],
      ],
    );
    return rows[0]?.counts === true;
  };
}

export function sendMessage(tenant: string, conversation: string, message: ConversationMessage): Work<void> {
  const content = JSON.stringify(message.content);
  return async ({ query }, again) => {
    await query('SELECT {s}.message_1($1, $2, $3, $4, $5::double precision, $6::boolean)', [
      ...[tenant, toStoredText(conversation), toStoredText(message.role), content, message.at, again],
    ]);
  };
}

export function rememberFacts(
  tenant: string,
  conversation: string,
  facts: readonly ConversationFact[],
): Work<void> {
  const values = [
    facts.map(({ key }) => toStoredText(key)),
    facts.map(({ value }) => JSON.stringify(value)),
    facts.map(({ at }) => at),
  ];
  return async ({ query }) => {
    await query('SELECT {s}.remember_1($1, $2, $3::text[], $4::text[], $5::double precision[])', [
      ...[tenant, toStoredText(conversation), ...values],
    ]);
  };
}

const RENEW = 'SELECT * FROM {s}.renew_1($1, $2, $3::integer, $4, $5, $6::double precision)';

export function renewSession(
  tenant: string,
  worker: SessionWorker,
  at: number,
  offer: WorkerOffer = {},
): Work<Renewal | undefined> {
  const [process, offered] = [JSON.stringify(worker), JSON.stringify(offer)];
  return async ({ query }) => {
    const { rows } = await query<{
      readonly beat: string;
      readonly batch_id: string | null;
      readonly position: number;
    }>(RENEW, [tenant, toStoredText(worker.id), worker.epoch, process, offered, at]);
    const [first] = rows;
    if (first === undefined) return undefined;
    const cancelled = rows.flatMap(({ batch_id, position }) =>
      batch_id === null ? [] : [callKey(fromStoredText(batch_id), position)],
    );
    return { beat: Number(first.beat), cancelled };
  };
}

// The queued calls that the worker accepted are dead once its last session is over.
/** Whether session `s` holds call `c` of batch `b`. */
const HOLDS = `
  c.tenant = s.tenant AND c.finished_at IS NULL AND (
    (c.worker_id = s.worker AND c.epoch = s.epoch) OR
    (c.worker_id IS NULL AND b.worker_id = s.worker AND NOT EXISTS (
      SELECT 1 FROM {s}.sessions l WHERE l.tenant = s.tenant AND l.worker = s.worker AND l.epoch > s.epoch)))`;
const LEFT = `
  JOIN {s}.sessions s ON s.tenant = $1 AND s.worker = $2 AND s.epoch = $3 AND ${HOLDS} ORDER BY c.number`;

export function reapSession(
  tenant: string,
  { id, epoch }: Pick<SessionWorker, 'id' | 'epoch'>,
  beat: number,
  at: number,
): Work<readonly CallRecord[] | undefined> {
  const worker = toStoredText(id);
  return async (connection) => {
    const { rows } = await connection.query<{ readonly ended: boolean }>(
      'SELECT {s}.reap_1($1, $2, $3::integer, $4::bigint, $5::double precision) AS ended',
      [tenant, worker, epoch, beat, at],
    );
    return rows[0]?.ended === true ? readCalls(connection, LEFT, [tenant, worker, epoch]) : undefined;
  };
}

const SESSIONS =
  'SELECT s.process, s.beat, s.offer, s.ended_at FROM {s}.sessions_1($1) AS s ORDER BY s.worker, s.epoch';

export function readSessions(tenant: string): Work<readonly WorkerSession[]> {
  return async ({ query }) => {
    const { rows } = await query<{
      readonly process: string;
      readonly beat: string;
      readonly offer: string;
      readonly ended_at: number | null;
    }>(SESSIONS, [tenant]);
    return rows.map(({ process, beat, offer, ended_at }) => ({
      ...JSON.parse(offer),
      worker: JSON.parse(process),
      beat: Number(beat),
      ...(ended_at === null ? {} : { endedAt: ended_at }),
    }));
  };
}
