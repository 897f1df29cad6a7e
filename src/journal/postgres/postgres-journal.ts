import type { ToolResult } from '../../contract/call.js';
import type { Dispatcher, Signals } from '../../contract/fleet.js';
import type {
  Acceptance,
  BatchDecision,
  BatchEntry,
  BatchFilter,
  BatchRecord,
  CallKey,
  CallPage,
  CallRecord,
  Changes,
  Claimant,
  ConversationEntry,
  ConversationFact,
  ConversationMessage,
  Journal,
  JournalNote,
  LiveText,
  OpenCounts,
  QueuedPage,
  RecalledFacts,
  Renewal,
  RunningCount,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../../contract/journal.js';
import type { Pruned, PruneLimits } from '../../contract/pruning.js';
import { parseCallKey } from '../records/call-key.js';
import { batchIsKnown, batchIsUnknown, callIsUnknown, journalIsClosed } from '../records/journal-errors.js';
import { fromStoredText, toStoredText, toStoredTurn } from '../records/stored-text.js';
import { BatchLanes, ofConversation } from './batch-lanes.js';
import { readChanges } from './changes.js';
import type { Work } from './connections.js';
import { DoubtfulBatches } from './doubtful-batches.js';
import { ContentWriter } from './keep-contents.js';
import { readContents } from './large-contents.js';
import { keepLiveTexts, readLiveTexts } from './live-texts.js';
import { PostgresNotices } from './notices.js';
import { BYTES, OrderedOperations, type PostgresPlace, refusing } from './ordered-operations.js';
import { BATCH_IS_KNOWN, BATCH_IS_UNKNOWN, CALL_IS_UNKNOWN } from './postgres-errors.js';
import { prunePostgres } from './prune-postgres.js';
import { readBatches, readDecisions, readFacts, readHistory } from './read-batches.js';
import {
  ANYWHERE,
  type CallPlace,
  HOLDER,
  queryCalls,
  readBatch,
  readByPlaces,
  readCalls,
  readNotes,
  UNFINISHED,
  WAITING,
} from './read-calls.js';
import { countOpen, readQueued, readRunning } from './read-queued.js';
import { acceptBatch } from './record-batch.js';
import {
  cancelCall,
  claimCall,
  decideBatch,
  finishCall,
  noteFact,
  readSessions,
  reapSession,
  rememberFacts,
  renewSession,
  sendMessage,
} from './record-progress.js';

/**
 * A journal in Postgres.
 *
 * All operations on a conversation share a lane, because its calls must take effect in order.
 */
export class PostgresJournal implements Journal {
  readonly durable = true;
  readonly spansMachines = true;
  readonly #operations: OrderedOperations;
  readonly tenant: string;
  readonly dispatcher: Dispatcher;
  readonly signals: Signals;
  readonly #contents: ContentWriter;
  readonly #notices: PostgresNotices;
  readonly #doubtful = new DoubtfulBatches();
  readonly #batches = new BatchLanes();

  constructor(place: PostgresPlace) {
    this.#operations = new OrderedOperations(place);
    this.tenant = fromStoredText(place.tenant);
    this.#contents = new ContentWriter(this.#operations, place.objects);
    this.#notices = new PostgresNotices(place);
    this.dispatcher = this.#notices.dispatcher;
    this.signals = this.#notices.signals;
  }

  async accept(batch: BatchEntry): Promise<readonly Acceptance[]> {
    const lane = this.#batches.add(batch);
    let isSent = false;
    let sending: Work<readonly Acceptance[]> | undefined;
    try {
      return await this.#write('accept a batch', lane, (tenant) => {
        sending = refusing(acceptBatch(tenant, batch), { [BATCH_IS_KNOWN]: () => batchIsKnown(batch.id) });
        const work = sending;
        return (connection, again) => {
          isSent = true;
          return work(connection, again);
        };
      });
    } catch (error) {
      // An error of the driver: the answer may have been lost.
      if (isSent && sending !== undefined && error instanceof Error && error.cause !== undefined) {
        this.#doubtful.add(toStoredText(this.tenant), batch, sending, (work) =>
          this.#write('withdraw a batch', lane, () => work),
        );
      }
      throw error;
    }
  }

  claim(key: CallKey, worker: Worker, at: number): Promise<boolean> {
    return this.#ofCall('claim a call', key, Promise.resolve(false), (tenant, place) =>
      claimCall(tenant, place, worker, at),
    );
  }

  note(key: CallKey, note: JournalNote): Promise<void> {
    return this.#onCall('note a fact of', key, (tenant, place) => noteFact(tenant, place, note));
  }

  finish(
    key: CallKey,
    result: ToolResult,
    at: number,
    claimant: Claimant,
  ): Promise<'recorded' | 'late' | 'claimed'> {
    return this.#onCall('record the result of', key, (tenant, place) =>
      finishCall(tenant, place, this.#contents.write(result), at, claimant),
    );
  }

  async cancel(key: CallKey, result: ToolResult, at: number): Promise<'cancelled' | 'asked' | 'done'> {
    const outcome = await this.#onCall('cancel', key, (tenant, place) =>
      cancelCall(tenant, place, this.#contents.write(result), at),
    );
    if (outcome === 'asked') this.signals.send('cancel', [key]);
    return outcome;
  }

  keep(bytes: Uint8Array): Promise<string> {
    return this.#contents.keep(bytes);
  }

  decide(batchId: string, decision: BatchDecision): Promise<boolean> {
    return this.#write('decide about a batch', this.#batches.laneOf(batchId), (tenant) =>
      refusing(decideBatch(tenant, batchId, decision), {
        [BATCH_IS_UNKNOWN]: () => batchIsUnknown('decide about', batchId),
      }),
    );
  }

  message(conversation: string, message: ConversationMessage): Promise<void> {
    return this.#write('record a message', ofConversation(conversation), (tenant) =>
      sendMessage(tenant, conversation, message),
    );
  }

  remember(conversation: string, facts: readonly ConversationFact[]): Promise<void> {
    return this.#write('remember facts', ofConversation(conversation), (tenant) =>
      rememberFacts(tenant, conversation, facts),
    );
  }

  print(texts: readonly LiveText[], at: number): Promise<void> {
    return this.#write('keep live output', 'live', (tenant) => keepLiveTexts(tenant, texts, at));
  }

  renew(worker: SessionWorker, at: number, offer?: WorkerOffer): Promise<Renewal | undefined> {
    // In a separate lane, because a beat must not wait for operations on conversations.
    return this.#write('renew a session', 'sessions', (tenant) => renewSession(tenant, worker, at, offer));
  }

  reap(
    worker: Pick<SessionWorker, 'id' | 'epoch'>,
    beat: number,
    at: number,
  ): Promise<readonly CallRecord[] | undefined> {
    return this.#write('end a session', 'reaping', (tenant) => reapSession(tenant, worker, beat, at));
  }

  async prune(limits: PruneLimits, at: number): Promise<Pruned> {
    await this.sync();
    const run = <T>(work: Work<T>): Promise<T> => this.#operations.step('prune', work);
    return prunePostgres(run, toStoredText(this.tenant), limits, at);
  }

  async sync(): Promise<void> {
    if (this.#operations.isClosed) throw journalIsClosed('write what is pending');
    await this.#operations.idle();
  }

  call(key: CallKey): Promise<CallRecord | undefined> {
    return this.#ofCall(
      'read a call',
      key,
      Promise.resolve(undefined),
      (tenant, place) => async (connection) => {
        const records = await readByPlaces(connection, tenant, [place]);
        return records.get(key);
      },
      'read',
    );
  }

  find(conversation: string | undefined, callId: string, turn?: string): Promise<CallRecord | undefined> {
    const id = toStoredText(callId);
    const stored = turn === undefined ? null : toStoredTurn(turn);
    const first = async (records: Promise<readonly CallRecord[]>): Promise<CallRecord | undefined> =>
      (await records)[0];
    if (conversation === undefined) {
      return this.#operations.look(
        'find a call',
        (tenant) => (connection) => first(readCalls(connection, ANYWHERE, [tenant, id, stored])),
      );
    }
    const name = toStoredText(conversation);
    return this.#read(
      'find a call',
      ofConversation(conversation),
      (tenant) => (connection) => first(queryCalls(connection, HOLDER, [tenant, name, id, stored])),
    );
  }

  batch(id: string): Promise<readonly CallRecord[]> {
    return this.#read(
      'read a batch',
      this.#batches.laneOf(id),
      (tenant) => (connection) => readBatch(connection, tenant, toStoredText(id)),
    );
  }

  unfinished(conversation?: string, page?: CallPage): Promise<readonly CallRecord[]> {
    const name = conversation === undefined ? null : toStoredText(conversation);
    const after = page?.after === undefined ? undefined : placeOf(page.after);
    const values = [name, after?.batch ?? null, after?.position ?? null, page?.limit ?? null];
    return this.#operations.look(
      'read the unfinished calls',
      (tenant) => (connection) => queryCalls(connection, UNFINISHED, [tenant, ...values]),
    );
  }

  waiting(batchId: string): Promise<readonly CallRecord[]> {
    return this.#read(
      'read the calls before a batch',
      this.#batches.laneOf(batchId),
      (tenant) => (connection) => queryCalls(connection, WAITING, [tenant, toStoredText(batchId)]),
    );
  }

  queued(page: QueuedPage): Promise<readonly CallRecord[]> {
    return this.#operations.look('read the queued calls', (tenant) => readQueued(tenant, page));
  }

  running(): Promise<readonly RunningCount[]> {
    return this.#operations.look('count the running calls', readRunning);
  }

  changes(since?: string): Promise<Changes> {
    return this.#operations.look('look for changes', (tenant) => readChanges(tenant, since));
  }

  openCounts(): Promise<OpenCounts> {
    return this.#operations.look('count the open calls', countOpen);
  }

  sessions(): Promise<readonly WorkerSession[]> {
    return this.#operations.look('read the sessions', readSessions);
  }

  printed(places: ReadonlyMap<CallKey, number>): Promise<readonly LiveText[]> {
    return this.#operations.look('read live output', (tenant) => readLiveTexts(tenant, places));
  }

  notes(key: CallKey): Promise<readonly JournalNote[]> {
    return this.#ofCall(
      'read the notes of a call',
      key,
      Promise.resolve([]),
      (tenant, place) => (connection) => readNotes(connection, tenant, place),
      'read',
    );
  }

  async kept(hash: string): Promise<Uint8Array | undefined> {
    const contents = await this.#read(
      'read kept bytes',
      BYTES,
      (tenant) => (connection) => readContents(connection, tenant, [hash]),
    );
    return contents.get(hash);
  }

  decisions(batchId: string): Promise<readonly BatchDecision[]> {
    return this.#read(
      'read the decisions about a batch',
      this.#batches.laneOf(batchId),
      (tenant) => (connection) => readDecisions(connection, tenant, toStoredText(batchId)),
    );
  }

  batches(filter?: BatchFilter): Promise<readonly BatchRecord[]> {
    return this.#operations.look(
      'list batches',
      (tenant) => (connection) => readBatches(connection, tenant, filter),
    );
  }

  history(conversation: string): Promise<readonly ConversationEntry[]> {
    return this.#read(
      'read a conversation',
      ofConversation(conversation),
      (tenant) => (connection) => readHistory(connection, tenant, conversation),
    );
  }

  recall(conversation: string, since?: number): Promise<RecalledFacts> {
    return this.#read(
      'recall facts',
      ofConversation(conversation),
      (tenant) => (connection) => readFacts(connection, tenant, conversation, since),
    );
  }

  async close(): Promise<void> {
    this.#doubtful.end();
    await this.#notices.close();
    await this.#operations.close();
  }

  /** An operation on a call that must exist. */
  #onCall<T>(
    action: string,
    key: CallKey,
    toWork: (tenant: string, place: CallPlace) => Work<T>,
  ): Promise<T> {
    const unknown = (): Error => callIsUnknown(action, key);
    return this.#ofCall(`${action} a call`, key, Promise.reject(unknown()), (tenant, place) =>
      refusing(toWork(tenant, place), { [CALL_IS_UNKNOWN]: unknown }),
    );
  }

  /** @param otherwise the answer for a text that is not a key */
  #ofCall<T>(
    action: string,
    key: CallKey,
    otherwise: Promise<T>,
    toWork: (tenant: string, place: CallPlace) => Work<T>,
    kind: 'read' | 'write' = 'write',
  ): Promise<T> {
    otherwise.catch(() => {});
    if (this.#operations.isClosed) return Promise.reject(journalIsClosed(action));
    const parsed = parseCallKey(key);
    const place = placeOf(key);
    if (parsed === undefined || place === undefined) return otherwise;
    const lane = this.#batches.laneOf(parsed.batchId);
    return this.#operations.ask(action, lane, kind, (tenant) => toWork(tenant, place));
  }

  #write<T>(action: string, lane: string, toWork: (tenant: string) => Work<T>): Promise<T> {
    return this.#operations.ask(action, lane, 'write', toWork);
  }

  #read<T>(action: string, lane: string, toWork: (tenant: string) => Work<T>): Promise<T> {
    return this.#operations.ask(action, lane, 'read', toWork);
  }
}

function placeOf(key: CallKey): CallPlace | undefined {
  const parsed = parseCallKey(key);
  // Beyond the numbers of the column: no batch has so many calls.
  if (parsed === undefined || parsed.index > 2_147_483_647) return undefined;
  return { batch: toStoredText(parsed.batchId), position: parsed.index };
}
