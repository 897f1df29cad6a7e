import type { ShownFile } from '../../contract/approval.js';
import type { Clock, ConversationMemory, Logger } from '../../contract/context.js';
import type { ConversationFact, Journal } from '../../contract/journal.js';
import { FILES_READ, type FileRecord, FilesRead, filesRead } from '../../tools/files-read.js';
import { TODO_LIST } from '../../tools/todo-list.js';
import { reasonOf } from '../answer/results.js';
import { trackOrigins } from './conversation-origins.js';
import { JournaledTodos } from './journaled-todos.js';

interface MemorySettings {
  readonly journal: Journal | null;
  readonly logger: Pick<Logger, 'error'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Conversations whose memory is kept; the one that was used longest ago is forgotten first. */
const KEPT = 1_000;

/**
 * What tools remember, a conversation at a time. Bounded, so that a server can run for ever. Which files a
 * conversation has read, and its to-do list, are in the journal as well: a later process, and another one at the same
 * time, know them too.
 */
export class ConversationMemories {
  readonly #memories = new Map<string, ConversationMemory>();
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
    if (journal?.remember === undefined || journal.recall === undefined) return memory;
    const record: FactsRecord = {
      remember: (facts) => journal.remember?.(conversation, facts),
      recall: (since) => journal.recall?.(conversation, since),
      failed: (error) => {
        const why = reasonOf(error);
        logger.error({ conversation, why }, 'what a conversation knows could not be recorded');
      },
      now: () => clock.now(),
    };
    const reads = new JournaledReads(record);
    const todos = new JournaledTodos(record);
    trackOrigins(memory, record);
    memory.set(FILES_READ, reads);
    memory.set(TODO_LIST, todos);
    journaled.set(memory, { reads: JournaledReads.handleOf(reads), recordTodos: () => todos.record() });
    return memory;
  }

  #forgetOldest(): void {
    for (const oldest of this.#memories.keys()) {
      this.#memories.delete(oldest);
      return;
    }
  }
}

/** By the memory, out of the reach of tools, which can replace the methods of what they find in it. */
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
 * Hands what is new since the last time to the journal: reads, and the to-do list. Called right before a result is recorded, so that both go to
 * the disk together: once the result was handed over, later processes know the read. Never throws.
 */
export function recordReads(memory: ConversationMemory): void {
  const handle = journaled.get(memory);
  handle?.reads.record();
  handle?.recordTodos();
}

/** What was shown counts as read: for this conversation, in all its processes. */
export function recordShown(memory: ConversationMemory, shown: readonly ShownFile[], at: number): void {
  const handle = journaled.get(memory)?.reads;
  for (const { path, hash } of shown) {
    const record = { sha256: hash, at };
    if (handle === undefined) filesRead(memory).set(path, record);
    else handle.take(path, record);
  }
  handle?.record();
}

/** What a conversation knows, in the journal. */
export interface FactsRecord {
  remember(facts: readonly ConversationFact[]): ReturnType<NonNullable<Journal['remember']>>;
  recall(since: number | undefined): ReturnType<NonNullable<Journal['recall']>> | undefined;
  failed(error: unknown): void;
  now(): number;
}

/**
 * The reads of a named conversation.
 *
 * 1. `set` touches memory alone; `#record` hands everything new to the journal in one go and waits for nothing.
 * 2. `refresh` takes in what the journal has, but never over a record of this process that may not be there yet.
 * 3. What could not be recorded is tried again with the next `#record`.
 */
class JournaledReads extends FilesRead {
  readonly #journal: FactsRecord;
  /** Set, and not handed to the journal yet. */
  #fresh = new Map<string, FileRecord>();
  /** Handed over, and not known to be written. */
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

/** Tools reach the records: what is none is not recorded. */
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
