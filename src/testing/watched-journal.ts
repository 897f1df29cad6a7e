import type { Awaitable, ToolCall, ToolResult } from '../contract/call.js';
import type {
  Acceptance,
  BatchDecision,
  BatchEntry,
  BatchFilter,
  CallKey,
  Claimant,
  ConversationFact,
  ConversationMessage,
  Journal,
  JournalNote,
  Worker,
} from '../contract/journal.js';

/** Called at every journal step, in order; the watcher may end the process there. */
export interface JournalWatch {
  before(step: string): void;
  after(acknowledged: Acknowledged): void;
}

/** A watched journal. Reads are passed through. */
export class WatchedJournal implements Journal {
  readonly durable: boolean;

  constructor(
    private readonly inner: Journal,
    private readonly watch: JournalWatch,
    /** A control: every delivery counts as new, and every claim succeeds. */
    private readonly unfenced: boolean,
  ) {
    this.durable = inner.durable;
  }

  accept(batch: BatchEntry): Promise<readonly Acceptance[]> {
    const asked = this.unfenced ? { ...batch, attach: false } : batch;
    return this.step(
      'accept',
      () => this.inner.accept(asked),
      (answers) => ({
        op: 'accept',
        keys: answers.flatMap(({ kind, key }) => (kind === 'known' ? [] : [key])),
      }),
    );
  }

  async claim(key: CallKey, worker: Worker, at: number): Promise<boolean> {
    const claimed = await this.step(
      'claim',
      () => this.inner.claim(key, worker, at),
      () => ({ op: 'claim', key }),
    );
    return claimed || this.unfenced;
  }

  note(key: CallKey, note: JournalNote): Promise<void> {
    return this.step(
      `note ${note.kind}`,
      () => this.inner.note(key, note),
      () => ({ op: 'note', key }),
    );
  }

  keep(bytes: Uint8Array): Promise<string> {
    return this.step(
      'keep',
      () => this.inner.keep(bytes),
      (hash) => ({ op: 'keep', hash }),
    );
  }

  decide(batchId: string, decision: BatchDecision): Promise<boolean> {
    return this.step(
      'decide',
      () => this.inner.decide(batchId, decision),
      () => ({ op: 'other' }),
    );
  }

  message(conversation: string, message: ConversationMessage): Promise<void> {
    return this.step(
      'message',
      () => this.inner.message(conversation, message),
      () => ({ op: 'other' }),
    );
  }

  async remember(conversation: string, facts: readonly ConversationFact[]): Promise<void> {
    await this.step(
      'remember',
      () => this.inner.remember?.(conversation, facts),
      () => ({ op: 'other' }),
    );
  }

  finish(
    key: CallKey,
    result: ToolResult,
    at: number,
    claimant: Claimant,
  ): Promise<'recorded' | 'late' | 'claimed'> {
    return this.step(
      'finish',
      () => this.inner.finish(key, result, at, claimant),
      (outcome) => (outcome === 'recorded' ? { op: 'finish', key, result } : { op: 'other' }),
    );
  }

  sync = (): Awaitable<void> => this.inner.sync();
  call = (key: CallKey) => this.inner.call(key);
  waiting = (batchId: string) => this.inner.waiting?.(batchId) ?? [];
  queued: NonNullable<Journal['queued']> = (page) => this.inner.queued?.(page) ?? [];
  cancel: NonNullable<Journal['cancel']> = (...call) => this.inner.cancel?.(...call) ?? 'done';
  find: Journal['find'] = (...call) => this.inner.find(...call);
  batch = (id: string) => this.inner.batch(id);
  unfinished = (conversation?: string) => this.inner.unfinished(conversation);
  notes = (key: CallKey) => this.inner.notes(key);
  kept = (hash: string) => this.inner.kept(hash);
  decisions = (batchId: string) => this.inner.decisions(batchId);
  batches = (filter?: BatchFilter) => this.inner.batches(filter);
  history = (conversation: string) => this.inner.history(conversation);
  recall = (conversation: string, since?: number) =>
    this.inner.recall?.(conversation, since) ?? { facts: [], mark: 0 };
  close = (): Awaitable<void> => this.inner.close();

  private async step<T>(
    name: string,
    run: () => Awaitable<T>,
    toEntry: (value: T) => Acknowledged,
  ): Promise<T> {
    this.watch.before(name);
    const value = await run();
    this.watch.after(toEntry(value));
    return value;
  }
}

/** The instructions for a process under test. */
export interface RoundOrder {
  /** A `file:` URL. */
  readonly tools: string;
  readonly calls: readonly ToolCall[];
  readonly root: string;
  readonly journal: string;
  readonly conversation: string;
  readonly parallel: boolean;
  /** A file for acknowledged records, one JSON object per line, written before the caller sees them. */
  readonly log: string;
  /** The journal step at which to die, from 1. */
  readonly die?: { readonly step: number; readonly when: 'before' | 'after' };
  readonly unfenced: boolean;
}

/** A record that the journal acknowledged as durable. */
export type Acknowledged =
  | { readonly op: 'accept'; readonly keys: readonly CallKey[] }
  | { readonly op: 'claim' | 'note'; readonly key: CallKey }
  | { readonly op: 'finish'; readonly key: CallKey; readonly result: ToolResult }
  | { readonly op: 'keep'; readonly hash: string }
  | { readonly op: 'other' };

/** The output of a process under test: the start of the batch, and its data if it runs to the end. */
export type RoundNews =
  | { readonly kind: 'begins' }
  | { readonly kind: 'ended'; readonly steps: readonly string[]; readonly durationMs: number };
