import { resolve } from 'node:path';
import {
  isBoolean,
  isFilledText,
  isObject,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
  rulesOf,
} from '../base/normalize-options.js';
import type { ToolResult } from '../contract/call.js';
import type { Logger } from '../contract/context.js';
import type {
  Acceptance,
  BatchDecision,
  BatchEntry,
  BatchFilter,
  BatchRecord,
  CallKey,
  CallPage,
  CallRecord,
  Claimant,
  ConversationEntry,
  ConversationFact,
  ConversationMessage,
  Journal,
  JournalNote,
  LiveText,
  QueuedPage,
  RecalledFacts,
  Renewal,
  RunningCount,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../contract/journal.js';
import { type OptionsIn, SETTINGS } from '../contract/settings.js';
import { ToolError } from '../errors/tool-error.js';
import type { SqliteRow } from '../platform/sqlite/sqlite.js';
import { journalFailure, journalIsClosed } from './records/journal-errors.js';
import { createDigest } from './redaction/journal-secret.js';
import { createRedactingJournal } from './redaction/redacting-journal.js';
import { parseRedaction, type RedactArguments } from './redaction/redaction-rules.js';
import { keepBytes, readKept } from './sqlite/blobs.js';
import { readFacts, recordFacts } from './sqlite/conversation-facts.js';
import { GroupCommit, type Operation } from './sqlite/group-commit.js';
import { type JournalLoss, journalIsOlder, lossDetails, lossWarning } from './sqlite/journal-anchor.js';
import type { JournalDatabase } from './sqlite/journal-database.js';
import { readLiveTexts, recordLiveTexts } from './sqlite/live-texts.js';
import { IN_MEMORY, openJournalDatabase } from './sqlite/open-journal-database.js';
import { readQueued, readRunning } from './sqlite/placed-calls.js';
import { readBatches, readDecisions, readHistory } from './sqlite/read-batches.js';
import { findByKey, findFirstDelivery, readBatch, readNotes, readUnfinished } from './sqlite/read-calls.js';
import { ReadOnlyJournal } from './sqlite/read-only-journal.js';
import { recordBatch } from './sqlite/record-batch.js';
import {
  recordCancel,
  recordClaim,
  recordDecision,
  recordMessage,
  recordNote,
  recordResult,
} from './sqlite/record-progress.js';
import { readSessions, reapSession, recordRenewal } from './sqlite/sessions.js';
import { readWaiting } from './sqlite/waiting-calls.js';

export interface JournalOptions {
  /**
   * How long an operation waits while another process writes, in milliseconds, before it fails with
   * `journal_unavailable`. Default 5,000.
   */
  readonly busyTimeoutMs?: number;
  /**
   * If the file does not contain everything that was recorded in it: `warn` reports it and continues, and
   * calls that had run may run again; `refuse` rejects every operation with `journal_unavailable`. Default
   * `warn`.
   */
  readonly onLoss?: OnJournalLoss;
  /**
   * Arguments that are not recorded: `true` for all, or patterns `TOOL/POINTER`, such as `bash/command` or
   * `/password`. Texts that repeat their values are redacted too. Such a call cannot be undone or run by
   * another process. Default: none.
   */
  readonly redactArguments?: RedactArguments;
  /** Receives the warning. Default: none. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export type OnJournalLoss = NonNullable<OptionsIn<'journal'>['onLoss']>;

/**
 * Opens a journal in an SQLite file, which several processes may use at once (D085). It touches the disk with
 * its first operation: then a missing file is created (mode 0600, new directories 0700). Operations requested
 * in one turn of the event loop share one commit.
 *
 * A file that can be read but not written answers from its content; only new records are refused.
 *
 * A key that the journal never returned cannot be claimed; a note or finish for it is `journal_unavailable`.
 *
 * @param path a file, or `:memory:` for a journal that ends with the process (`durable: false`).
 * @throws ToolError `config_invalid` for an empty path or an invalid option.
 */
export function openJournal(path: string, options: JournalOptions = {}): Journal {
  if (!isFilledText(path)) {
    const given = typeof path === 'string' ? '""' : typeof path;
    throw new ToolError('config_invalid', `Cannot open a journal at ${given}: name a file, or ":memory:".`);
  }
  const { redactArguments, ...others } = normalizeOptions('openJournal', options, OPTIONS);
  const rules = parseRedaction(redactArguments);
  const journal = new SqliteJournal(path, others);
  if (rules === undefined) return journal;
  return createRedactingJournal(journal, rules, createDigest(path === IN_MEMORY ? undefined : path));
}

const OPTIONS: OptionRules<Required<JournalOptions>> = {
  busyTimeoutMs: option(
    5000,
    (value) => Number.isFinite(value) && Number(value) >= 0,
    'a number of milliseconds, 0 or more',
  ),
  ...rulesOf<Required<OptionsIn<'journal'>>>(SETTINGS.journal),
  redactArguments: option<RedactArguments>(
    false,
    (value) => isBoolean(value) || isTextList(value),
    'true, false, or a list of patterns',
  ),
  logger: option<Pick<Logger, 'warn'>>({ warn: () => {} }, isObject, 'an object with a function warn'),
};

/** Opens its file and loads SQLite with the first operation: `GroupCommit` requests the database only then. */
class SqliteJournal implements Journal {
  readonly durable: boolean;
  readonly file?: string;
  private readonly commits: GroupCommit;
  private readonly readOnly: ReadOnlyJournal;
  private closing: Promise<void> | undefined = undefined;
  readonly prune?: NonNullable<Journal['prune']>;
  /** The reported loss. It is reported once, even if the file is opened again. */
  private reported: number | undefined = undefined;

  constructor(
    private readonly path: string,
    { busyTimeoutMs, onLoss, logger }: Required<Omit<JournalOptions, 'redactArguments'>>,
  ) {
    this.durable = path !== IN_MEMORY;
    if (this.durable) {
      this.file = resolve(path);
      this.prune = async (limits, at) => {
        await this.sync();
        const { pruneJournal } = await import('./prune-journal.js');
        return pruneJournal(path, { ...limits, at });
      };
    }
    const report = (loss: JournalLoss): void => {
      if (onLoss === 'refuse') throw journalIsOlder(path, loss);
      if (loss.known.commit === this.reported) return;
      this.reported = loss.known.commit;
      logger.warn(lossDetails(path, loss), lossWarning(path, loss));
    };
    this.readOnly = new ReadOnlyJournal(path, report);
    this.commits = new GroupCommit({
      open: () => openJournalDatabase(path, { onLoss: report }),
      readOnly: (refusal, run) => this.readOnly.read(refusal, run),
      busyTimeoutMs,
      toError: (error) => journalFailure(path, error),
    });
  }

  accept(batch: BatchEntry): Promise<readonly Acceptance[]> {
    return this.ask('accept a batch', () => recordBatch(batch));
  }

  claim(key: CallKey, worker: Worker, at: number): Promise<boolean> {
    return this.ask('claim a call', () => recordClaim(key, worker, at));
  }

  note(key: CallKey, note: JournalNote): Promise<void> {
    return this.ask('note a fact', () => recordNote(key, note));
  }

  finish(
    key: CallKey,
    result: ToolResult,
    at: number,
    claimant: Claimant,
  ): Promise<'recorded' | 'late' | 'claimed'> {
    return this.ask('record a result', () => recordResult(key, result, at, claimant));
  }

  cancel(key: CallKey, result: ToolResult, at: number): Promise<'cancelled' | 'asked' | 'done'> {
    return this.ask('cancel a call', () => recordCancel(key, result, at));
  }

  renew(worker: SessionWorker, at: number, offer?: WorkerOffer): Promise<Renewal | undefined> {
    return this.ask('renew a session', () => recordRenewal(worker, at, offer));
  }

  reap(
    worker: Pick<SessionWorker, 'id' | 'epoch'>,
    beat: number,
    at: number,
  ): Promise<readonly CallRecord[] | undefined> {
    return this.ask('end a session', () => reapSession(worker, beat, at));
  }

  keep(bytes: Uint8Array): Promise<string> {
    return this.ask('keep bytes', () => keepBytes(bytes));
  }

  decide(batchId: string, decision: BatchDecision): Promise<boolean> {
    return this.ask('decide about a batch', () => recordDecision(batchId, decision));
  }

  message(conversation: string, message: ConversationMessage): Promise<void> {
    return this.ask('record a message', () => recordMessage(conversation, message));
  }

  remember(conversation: string, facts: readonly ConversationFact[]): Promise<void> {
    return this.ask('remember facts', () => recordFacts(conversation, facts));
  }

  recall(conversation: string, since?: number): Promise<RecalledFacts> {
    return this.read('recall facts', (database) => readFacts(database, conversation, since));
  }

  async sync(): Promise<void> {
    if (this.closing !== undefined) throw journalIsClosed('write what is pending');
    await this.commits.sync();
  }

  call(key: CallKey): Promise<CallRecord | undefined> {
    return this.read('read a call', (database) => findByKey(database, key));
  }

  find(conversation: string | undefined, callId: string, turn?: string): Promise<CallRecord | undefined> {
    return this.read('find a call', (database) => findFirstDelivery(database, conversation, callId, turn));
  }

  batch(id: string): Promise<readonly CallRecord[]> {
    return this.read('read a batch', (database) => readBatch(database, id));
  }

  unfinished(conversation?: string, page?: CallPage): Promise<readonly CallRecord[]> {
    return this.read('read the unfinished calls', (database) => readUnfinished(database, conversation, page));
  }

  waiting(batchId: string): Promise<readonly CallRecord[]> {
    return this.read('read the calls before a batch', (database) => readWaiting(database, batchId));
  }

  queued(page: QueuedPage): Promise<readonly CallRecord[]> {
    return this.read('read the queued calls', (database) => readQueued(database, page));
  }

  running(): Promise<readonly RunningCount[]> {
    return this.read('count the running calls', readRunning);
  }

  print(texts: readonly LiveText[], at: number): Promise<void> {
    return this.ask('keep live output', () => recordLiveTexts(texts, at));
  }

  printed(places: ReadonlyMap<CallKey, number>): Promise<readonly LiveText[]> {
    return this.read('read live output', (database) => readLiveTexts(database, places));
  }

  sessions(): Promise<readonly WorkerSession[]> {
    return this.read('read the sessions', readSessions);
  }

  notes(key: CallKey): Promise<readonly JournalNote[]> {
    return this.read('read the notes of a call', (database) => readNotes(database, key));
  }

  kept(hash: string): Promise<Uint8Array | undefined> {
    return this.ask('read kept bytes', () => readKept(hash));
  }

  decisions(batchId: string): Promise<readonly BatchDecision[]> {
    return this.read('read the decisions about a batch', (database) => readDecisions(database, batchId));
  }

  batches(filter?: BatchFilter): Promise<readonly BatchRecord[]> {
    return this.read('list batches', (database) => readBatches(database, filter));
  }

  history(conversation: string): Promise<readonly ConversationEntry[]> {
    return this.read('read a conversation', (database) => readHistory(database, conversation));
  }

  async isAlone(): Promise<boolean> {
    // Opens the file, and waits for a process that has exclusive access at the moment.
    await this.read('look who else uses it', () => undefined);
    try {
      return await this.commits.aside(isAlone);
    } catch {
      // The file cannot be written, so this cannot be determined.
      return false;
    }
  }

  close(): Promise<void> {
    this.closing ??= this.commits.idle().then(() => {
      this.readOnly.close();
      this.commits.close();
    });
    return this.closing;
  }

  private read<T>(action: string, run: (database: JournalDatabase) => T): Promise<T> {
    return this.ask(action, () => ({ writes: false, run }));
  }

  private ask<T>(action: string, toOperation: () => Operation<T>): Promise<T> {
    if (this.closing !== undefined) return Promise.reject(journalIsClosed(action));
    try {
      return this.commits.ask(toOperation());
    } catch (error) {
      // Values that are not JSON: no operation was requested yet.
      return Promise.reject(journalFailure(this.path, error));
    }
  }
}

/**
 * Whether no other connection of any process has the file open. Every connection holds a lock while it lives,
 * which the system releases with the process, even an invisible one; and only an exclusive connection can
 * leave WAL mode. Call it outside a transaction.
 */
function isAlone(database: JournalDatabase): boolean {
  // In other modes no process holds a permanent lock, so the lock proves nothing.
  if (changeMode(database, 'WAL') !== 'wal' || changeMode(database, 'DELETE') !== 'delete') return false;
  database.logRenewed();
  // A process that opens it at this moment prevents the change, and does the same.
  changeMode(database, 'WAL');
  // The first read takes the lock again, unless another process was faster.
  return ask(database, 'SELECT 1 FROM journal.sqlite_schema LIMIT 1') !== undefined;
}

/** Returns the resulting mode. */
function changeMode(database: JournalDatabase, mode: 'DELETE' | 'WAL'): unknown {
  return ask(database, `PRAGMA journal.journal_mode = ${mode}`)?.journal_mode;
}

/** Undefined if another process is in the way, or on any other failure: then nothing is known. */
function ask(database: JournalDatabase, sql: string): SqliteRow | undefined {
  try {
    return database.prepared(sql).get();
  } catch {
    return undefined;
  }
}
