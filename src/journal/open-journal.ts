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
  ConversationEntry,
  ConversationFact,
  ConversationMessage,
  Journal,
  JournalNote,
  RecalledFacts,
  Worker,
} from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { IN_MEMORY } from './journal-place.js';
import { journalIsClosed } from './journal-unavailable.js';
import type { SqliteJournal } from './sqlite-journal.js';

export interface JournalOptions {
  /**
   * Milliseconds that an operation waits while another process writes to the file, before it is rejected with
   * `journal_unavailable`. Default 5,000.
   */
  readonly busyTimeoutMs?: number;
  /**
   * What happens when the file does not hold what was recorded in it: `warn` reports it and goes on, and calls that had
   * run may run again; `refuse` rejects every operation with `journal_unavailable`. Default `warn`.
   */
  readonly onLoss?: OnJournalLoss;
  /** Where the warning goes. Default: nowhere. */
  readonly logger?: Pick<Logger, 'warn'>;
}

export type OnJournalLoss = 'warn' | 'refuse';

export const ON_JOURNAL_LOSS: readonly OnJournalLoss[] = ['warn', 'refuse'];

/**
 * A journal in an SQLite file, which several processes may use at once (D085). Touches the disk with its first
 * operation: then the file is made where there is none (mode 0600, its new directories 0700). Operations that are
 * asked for in one turn of the event loop share one commit.
 *
 * A key that the journal never gave out is claimed by nobody; to note or finish it is `journal_unavailable`.
 *
 * @param path a file, or `:memory:` for a journal that ends with the process (`durable: false`).
 * @throws ToolError `config_invalid` for an empty path or a bad option.
 */
export function openJournal(path: string, options: JournalOptions = {}): Journal {
  const busyTimeoutMs = options.busyTimeoutMs ?? 5000;
  if (path === '') {
    throw new ToolError('config_invalid', 'Cannot open a journal at "": name a file, or ":memory:".');
  }
  if (!Number.isFinite(busyTimeoutMs) || busyTimeoutMs < 0) {
    throw new ToolError(
      'config_invalid',
      `Cannot wait ${String(busyTimeoutMs)} ms: busyTimeoutMs must be a number of milliseconds, 0 or more.`,
    );
  }
  const onLoss = options.onLoss ?? 'warn';
  if (!ON_JOURNAL_LOSS.includes(onLoss)) {
    throw new ToolError(
      'config_invalid',
      `onLoss must be one of ${ON_JOURNAL_LOSS.join(', ')}, got ${JSON.stringify(onLoss)}.`,
    );
  }
  const logger = options.logger ?? SILENT;
  return new LazyJournal(path, { busyTimeoutMs, onLoss, logger });
}

const SILENT: Pick<Logger, 'warn'> = { warn: () => {} };

/** Loads SQLite and everything around it with the first operation: a program that keeps no journal never pays for it. */
class LazyJournal implements Journal {
  readonly durable: boolean;
  private readonly load: () => Promise<SqliteJournal>;
  private loading: Promise<SqliteJournal> | undefined = undefined;
  private loaded: SqliteJournal | undefined = undefined;
  private closed = false;

  constructor(path: string, options: Required<JournalOptions>) {
    this.durable = path !== IN_MEMORY;
    this.load = async () => {
      const { SqliteJournal } = await import('./sqlite-journal.js');
      return new SqliteJournal(path, options);
    };
  }

  /** What every call asks for goes straight there. */
  private get open(): SqliteJournal | undefined {
    return this.closed ? undefined : this.loaded;
  }

  accept(batch: BatchEntry): Promise<readonly Acceptance[]> {
    return this.open?.accept(batch) ?? this.ask((journal) => journal.accept(batch), 'accept a batch');
  }

  claim(key: CallKey, worker: Worker, at: number): Promise<boolean> {
    return (
      this.open?.claim(key, worker, at) ??
      this.ask((journal) => journal.claim(key, worker, at), 'claim a call')
    );
  }

  note(key: CallKey, note: JournalNote): Promise<void> {
    return this.ask((journal) => journal.note(key, note), 'note a fact');
  }

  finish(key: CallKey, result: ToolResult, at: number): Promise<'recorded' | 'late'> {
    return (
      this.open?.finish(key, result, at) ??
      this.ask((journal) => journal.finish(key, result, at), 'record a result')
    );
  }

  keep(bytes: Uint8Array): Promise<string> {
    return this.ask((journal) => journal.keep(bytes), 'keep bytes');
  }

  decide(batchId: string, decision: BatchDecision): Promise<boolean> {
    return this.ask((journal) => journal.decide(batchId, decision), 'decide about a batch');
  }

  message(conversation: string, message: ConversationMessage): Promise<void> {
    return this.ask((journal) => journal.message(conversation, message), 'record a message');
  }

  remember(conversation: string, facts: readonly ConversationFact[]): Promise<void> {
    return (
      this.open?.remember(conversation, facts) ??
      this.ask((journal) => journal.remember(conversation, facts), 'remember facts')
    );
  }

  recall(conversation: string, since?: number): Promise<RecalledFacts> {
    return (
      this.open?.recall(conversation, since) ??
      this.ask((journal) => journal.recall(conversation, since), 'recall facts')
    );
  }

  sync(): Promise<void> {
    return this.ask((journal) => journal.sync(), 'write what is pending');
  }

  call(key: CallKey): Promise<CallRecord | undefined> {
    return this.ask((journal) => journal.call(key), 'read a call');
  }

  find(conversation: string | undefined, callId: string, turn?: string): Promise<CallRecord | undefined> {
    return this.ask((journal) => journal.find(conversation, callId, turn), 'find a call');
  }

  batch(id: string): Promise<readonly CallRecord[]> {
    return this.ask((journal) => journal.batch(id), 'read a batch');
  }

  unfinished(conversation?: string, page?: CallPage): Promise<readonly CallRecord[]> {
    return this.ask((journal) => journal.unfinished(conversation, page), 'read the unfinished calls');
  }

  notes(key: CallKey): Promise<readonly JournalNote[]> {
    return this.ask((journal) => journal.notes(key), 'read the notes of a call');
  }

  kept(hash: string): Promise<Uint8Array | undefined> {
    return this.ask((journal) => journal.kept(hash), 'read kept bytes');
  }

  decisions(batchId: string): Promise<readonly BatchDecision[]> {
    return this.ask((journal) => journal.decisions(batchId), 'read the decisions about a batch');
  }

  batches(filter?: BatchFilter): Promise<readonly BatchRecord[]> {
    return this.ask((journal) => journal.batches(filter), 'list batches');
  }

  history(conversation: string): Promise<readonly ConversationEntry[]> {
    return this.ask((journal) => journal.history(conversation), 'read a conversation');
  }

  async isAlone(): Promise<boolean> {
    return this.ask(async (journal) => (await journal.isAlone?.()) === true, 'look who else uses it');
  }

  async close(): Promise<void> {
    this.closed = true;
    // What was never used has nothing to close.
    await (await this.loading)?.close();
  }

  // Those who wait for the loading are served in the order in which they came.
  private ask<T>(use: (journal: SqliteJournal) => T | Promise<T>, action: string): Promise<T> {
    if (this.closed) return Promise.reject(journalIsClosed(action));
    if (this.loaded !== undefined) return Promise.resolve(use(this.loaded));
    this.loading ??= this.load();
    return this.loading.then((journal) => {
      // Only now, when everybody who waited is in the queue already: nobody overtakes them.
      this.loaded = journal;
      return use(journal);
    });
  }
}
