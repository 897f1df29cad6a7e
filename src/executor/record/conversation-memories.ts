import type { ShownFile } from '../../contract/approval.js';
import type { Clock, ConversationMemory, Logger } from '../../contract/context.js';
import type { ConversationFact, Journal } from '../../contract/journal.js';
import type { Origin } from '../../contract/origin.js';
import { TextBudget } from '../../provenance/text-budget.js';
import { FILES_READ, type FileRecord, FilesRead, filesRead } from '../../tools/files-read.js';
import { TODO_LIST } from '../../tools/todo-list.js';
import { reasonOf } from '../answer/results.js';
import { forgetOrigins, trackOrigins } from './conversation-origins.js';
import { JournaledTodos } from './journaled-todos.js';
import { type RecordedText, recordedTexts } from './recorded-texts.js';

interface MemorySettings {
  readonly journal: Journal | null;
  readonly logger: Pick<Logger, 'error'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The number of conversations whose memory is kept. The least recently used one is dropped first. */
const KEPT = 1_000;
/** The number of dropped conversations whose origins are kept. */
const KEPT_ORIGINS = 100_000;

/**
 * The memory of tools, one for each conversation. The number is bounded, so that a server can run indefinitely. The
 * files that a conversation has read, and its to-do list, are also in the journal, so that later and parallel processes
 * know them too.
 */
export class ConversationMemories {
  readonly #memories = new Map<string, ConversationMemory>();
  readonly #texts = new TextBudget();
  /** Of dropped conversations: a conversation that continues must not look as if its model had seen nothing. */
  readonly #dropped = new Map<string, readonly Origin[]>();
  readonly #settings: MemorySettings;

  constructor(settings: MemorySettings) {
    this.#settings = settings;
  }

  of(conversation: string): ConversationMemory {
    const memory = this.#memories.get(conversation) ?? this.#create(conversation);
    if (this.#memories.size > 1) this.#memories.delete(conversation);
    this.#memories.set(conversation, memory);
    if (this.#memories.size > KEPT) this.#forgetOldest();
    return memory;
  }

  #create(conversation: string): ConversationMemory {
    const memory: ConversationMemory = new Map();
    const { journal, logger, clock } = this.#settings;
    const tracking = { budget: this.#texts, dropped: this.#dropped.get(conversation) };
    this.#dropped.delete(conversation);
    if (journal?.remember === undefined || journal.recall === undefined) {
      trackOrigins(memory, tracking);
      return memory;
    }
    const record: FactsRecord = {
      remember: (facts) => journal.remember?.(conversation, facts),
      recall: (since) => journal.recall?.(conversation, since),
      failed: (error) => {
        const why = reasonOf(error);
        logger.error({ conversation, why }, 'what a conversation knows could not be recorded');
      },
      now: () => clock.now(),
      texts: (cleanAt) => recordedTexts(journal, conversation, cleanAt),
    };
    const reads = new JournaledReads(record);
    const todos = new JournaledTodos(record);
    trackOrigins(memory, { ...tracking, journal: record });
    memory.set(FILES_READ, reads);
    memory.set(TODO_LIST, todos);
    journaled.set(memory, { reads: JournaledReads.handleOf(reads), recordTodos: () => todos.record() });
    return memory;
  }

  #forgetOldest(): void {
    for (const [oldest, memory] of this.#memories) {
      this.#memories.delete(oldest);
      const seen = forgetOrigins(memory, this.#texts);
      if (seen.length > 0) this.#dropped.set(oldest, seen);
      const [first] = this.#dropped.keys();
      if (this.#dropped.size > KEPT_ORIGINS && first !== undefined) this.#dropped.delete(first);
      return;
    }
  }
}

/**
 * Stored by the memory object, out of reach of tools, because tools could replace methods of the objects in the memory.
 */
const journaled = new WeakMap<ConversationMemory, MemoryHandle>();

interface MemoryHandle {
  readonly reads: ReadsHandle;
  readonly recordTodos: () => void;
}

interface ReadsHandle {
  take(path: string, record: FileRecord): void;
  record(): void;
}

/**
 * Writes new reads and the to-do list to the journal. Called directly before a result is recorded, so that
 * both reach the disk together: once the result is delivered, later processes know the read. Never throws.
 */
export function recordReads(memory: ConversationMemory): void {
  const handle = journaled.get(memory);
  handle?.reads.record();
  handle?.recordTodos();
}

/** Marks shown files as read, for all processes of the conversation. */
export function recordShown(memory: ConversationMemory, shown: readonly ShownFile[], at: number): void {
  const handle = journaled.get(memory)?.reads;
  for (const { path, hash } of shown) {
    const record = { sha256: hash, at };
    if (handle === undefined) filesRead(memory).set(path, record);
    else handle.take(path, record);
  }
  handle?.record();
}

/** The journal's record of a conversation's facts. */
export interface FactsRecord {
  remember(facts: readonly ConversationFact[]): ReturnType<NonNullable<Journal['remember']>>;
  recall(since: number | undefined): ReturnType<NonNullable<Journal['recall']>> | undefined;
  failed(error: unknown): void;
  now(): number;
  /** The newest results that the conversation has seen since a time, oldest first. */
  texts(cleanAt: number): Promise<readonly RecordedText[]>;
}

/**
 * The reads of a named conversation.
 *
 * 1. `set` changes only memory; `#record` passes all new reads to the journal at once and does not wait.
 * 2. `refresh` takes reads from the journal, but never replaces a read of this process that the journal may
 *   not have yet.
 * 3. Reads that could not be recorded are tried again with the next `#record`.
 */
class JournaledReads extends FilesRead {
  readonly #journal: FactsRecord;
  /** Reads that have not been passed to the journal yet. */
  #fresh = new Map<string, FileRecord>();
  /** Reads that were passed to the journal, but may not be written yet. */
  readonly #underWay = new Map<string, FileRecord>();
  #mark: number | undefined;

  constructor(journal: FactsRecord) {
    super();
    this.#journal = journal;
  }

  static handleOf(reads: JournaledReads): ReadsHandle {
    return { take: (path, record) => void reads.#take(path, record), record: () => reads.#record() };
  }

  override set(path: string, record: FileRecord): this {
    return this.#take(path, record);
  }

  #take(path: string, record: FileRecord): this {
    this.#fresh.set(path, record);
    return super.set(path, record);
  }

  override async refresh(): Promise<void> {
    const recalled = await this.#journal.recall(this.#mark);
    if (recalled === undefined) return;
    for (const { key, value, at } of recalled.facts) {
      const path = pathOf(key);
      const sha256 = hashIn(value);
      if (path === undefined || sha256 === undefined) continue;
      if (!this.#fresh.has(path) && !this.#underWay.has(path)) super.set(path, { sha256, at });
    }
    this.#mark = recalled.mark;
  }

  #record(): void {
    if (this.#fresh.size === 0) return;
    const sent = this.#fresh;
    this.#fresh = new Map();
    for (const [path, record] of sent) this.#underWay.set(path, record);
    try {
      const facts = [...sent].flatMap(([path, record]) => toFact(path, record, this.#journal.now()));
      const written = this.#journal.remember(facts);
      if (!(written instanceof Promise)) this.#arrived(sent);
      else
        written.then(
          () => this.#arrived(sent),
          (error: unknown) => this.#lost(sent, error),
        );
    } catch (error) {
      this.#lost(sent, error);
    }
  }

  #arrived(sent: ReadonlyMap<string, FileRecord>): void {
    for (const [path, record] of sent) {
      if (this.#underWay.get(path) === record) this.#underWay.delete(path);
    }
  }

  #lost(sent: ReadonlyMap<string, FileRecord>, error: unknown): void {
    for (const [path, record] of sent) {
      if (this.#underWay.get(path) === record && !this.#fresh.has(path)) this.#fresh.set(path, record);
    }
    this.#arrived(sent);
    this.#journal.failed(error);
  }
}

const KEY = 'file:';

function pathOf(key: string): string | undefined {
  return key.startsWith(KEY) ? key.slice(KEY.length) : undefined;
}

/** Tools can change the records, so a value that is not a valid record is not stored. */
function toFact(path: unknown, record: unknown, now: number): ConversationFact[] {
  const sha256 = hashIn(record);
  if (typeof path !== 'string' || sha256 === undefined) return [];
  return [{ key: `${KEY}${path}`, value: { sha256 }, at: timeIn(record) ?? now }];
}

function hashIn(value: unknown): string | null | undefined {
  if (typeof value !== 'object' || value === null || !('sha256' in value)) return undefined;
  const { sha256 } = value;
  if (sha256 === null) return null;
  return typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
}

function timeIn(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('at' in value)) return undefined;
  return typeof value.at === 'number' && Number.isFinite(value.at) ? value.at : undefined;
}
