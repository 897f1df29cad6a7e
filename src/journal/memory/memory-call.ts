import canonicalize from 'canonicalize';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type {
  BatchDecision,
  BatchEntry,
  BatchFilter,
  BatchRecord,
  CallEntry,
  CallKey,
  CallRecord,
  ConversationEntry,
  ConversationMessage,
  DecisionKind,
  JournalNote,
  Worker,
} from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { settledBy } from '../records/settled.js';
import { restoreBlocks, sha256, storeBlocks } from '../records/stored-content.js';

/** A call in the memory journal. A record is made only when it is read. */
export class MemoryCall {
  worker: Worker | undefined = undefined;
  startedAt = 0;
  /** Without its content blocks. */
  result: ToolResult | undefined = undefined;
  content: (() => readonly ContentBlock[]) | undefined = undefined;
  finishedAt = 0;
  notes: JournalNote[] | undefined = undefined;
  /** The arguments as text, kept if a second delivery will be compared with them. */
  argsText: string | undefined = undefined;

  constructor(
    readonly key: CallKey,
    readonly batch: MemoryBatch,
    readonly index: number,
    readonly entry: CallEntry,
  ) {}

  toRecord(): CallRecord {
    const { key, batch, index, entry, worker, content } = this;
    const result =
      this.result === undefined || content === undefined
        ? this.result
        : { ...this.result, content: content() };
    return {
      callId: entry.callId,
      ...(entry.madeUp === true ? { madeUp: true } : {}),
      ...(entry.madeUp === true && entry.turn !== undefined ? { turn: entry.turn } : {}),
      toolName: entry.toolName,
      args: entry.args,
      effects: entry.effects,
      disposition: entry.disposition,
      reason: entry.reason,
      key,
      batchId: batch.entry.id,
      index,
      conversation: batch.entry.conversation,
      ...(batch.entry.attach ? { attach: true } : {}),
      state: result !== undefined ? 'done' : worker !== undefined ? 'running' : 'queued',
      ...(batch.entry.worker === undefined ? {} : { acceptedBy: batch.entry.worker }),
      ...(batch.entry.placement === undefined ? {} : { placement: batch.entry.placement }),
      ...(batch.decision === undefined ? {} : { decision: batch.decision }),
      ...settledBy(batch.decisions?.at(-1), entry.callId, result),
      acceptedAt: batch.entry.at,
      ...(worker === undefined ? {} : { worker, startedAt: this.startedAt }),
      ...(result === undefined ? {} : { result, finishedAt: this.finishedAt }),
    };
  }

  /** Content bytes of all calls are kept together, so the oldest can be dropped. */
  answer(whole: ToolResult, contents: MemoryContents): void {
    this.result = whole;
    if (whole.content === undefined) return;
    const { content, ...result } = whole;
    this.result = result;
    const blocks = storeBlocks(content, (_, bytes) => contents.keep(bytes));
    this.content = () => restoreBlocks(blocks, (hash) => contents.kept(hash));
  }

  /** It is queued, and does not wait for the person. */
  get isFree(): boolean {
    const { decision } = this.batch;
    return this.worker === undefined && this.result === undefined && (decision ?? 'resume') === 'resume';
  }

  /** Its answer is not final: it was not decided, or did not run because the journal failed. */
  get isOpen(): boolean {
    const error = this.result?.error;
    if (error?.code === 'journal_unavailable') return error.details?.executed === 'no';
    return error?.code === 'approval_unavailable';
  }

  /** Whether another delivery has the same arguments. The order of properties does not matter. */
  isRepeatedBy(entry: CallEntry): boolean {
    if (entry.toolName !== this.entry.toolName || this.argsText === undefined) return false;
    if (JSON.stringify(entry.args) === this.argsText) return true;
    return canonicalize(entry.args) === canonicalize(JSON.parse(this.argsText));
  }
}

export class MemoryBatch {
  /** In order of delivery. For a call that attached: its first delivery, which belongs to another batch. */
  readonly calls: MemoryCall[];
  /** The number of its own calls that are not done. */
  open = 0;
  decisions: BatchDecision[] | undefined = undefined;
  /** It has a call that is not the first delivery of its identity, or may have one. */
  hasSeconds = false;
  /** The batch that finished next. */
  next: MemoryBatch | undefined = undefined;

  /** @param number in order of acceptance */
  constructor(
    readonly entry: BatchEntry,
    readonly number: number,
  ) {
    this.calls = new Array<MemoryCall>(entry.calls.length);
  }

  get decision(): DecisionKind | undefined {
    return this.decisions?.at(-1)?.kind;
  }

  /** Returns whether the decision counts, and then keeps it. */
  decide(decision: BatchDecision): boolean {
    const waits = this.decision === 'wait';
    if (decision.kind === 'wait' ? waits || this.open === 0 : !waits) return false;
    this.decisions ??= [];
    this.decisions.push(decision);
    return true;
  }

  toRecord(): BatchRecord {
    const { calls, openQuota: _quota, onlyReads: _reads, ...entry } = this.entry;
    const { decision } = this;
    return { ...entry, size: calls.length, ...(decision === undefined ? {} : { decision }) };
  }

  /** Its weight against the capacity; at least one, so empty batches are limited too. */
  get weight(): number {
    return this.calls.length || 1;
  }
}

/** The evidence that a late finish leaves. */
export function lateNote(
  { error, content, ...rest }: ToolResult,
  at: number,
  keep: (hash: string, bytes: Uint8Array) => void,
): JournalNote {
  const data: JsonObject = {
    ...rest,
    ...(error === undefined ? {} : { error: { ...error } }),
    ...(content === undefined ? {} : { content: storeBlocks(content, keep) }),
  };
  return { kind: 'late_result', data, at };
}

/** The maximum number of content bytes; the oldest are dropped first. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

/** Contents by their hash, and messages. */
export class MemoryContents {
  private readonly contents = new Map<string, Uint8Array>();
  private size = 0;
  private messages: SentMessage[] = [];

  constructor(private readonly capacity: number) {}

  keep(bytes: Uint8Array): string {
    const hash = sha256(bytes);
    if (this.contents.has(hash)) return hash;
    this.contents.set(hash, bytes.slice());
    this.size += bytes.length;
    for (const [oldest, { length }] of this.contents) {
      if (this.size <= MOST_KEPT_BYTES) break;
      this.contents.delete(oldest);
      this.size -= length;
    }
    return hash;
  }

  kept(hash: string): Uint8Array | undefined {
    return this.contents.get(hash);
  }

  /** @param before only batches with a lower number */
  send(conversation: string, message: ConversationMessage, before: number): void {
    this.messages.push({ conversation, before, message });
    // Removed in bulk, because removal moves the whole array.
    if (this.messages.length > 2 * this.capacity + 100) this.messages = this.messages.slice(-this.capacity);
  }

  /** @param batches those of the conversation, in order of acceptance */
  history(conversation: string, batches: readonly MemoryBatch[]): readonly ConversationEntry[] {
    const sent = this.messages.filter((each) => each.conversation === conversation);
    const entries = [
      ...sent.map(({ before, message }) => ({
        // Between two batches.
        place: before - 0.5,
        entry: { kind: 'message', ...message } as const,
      })),
      ...batches.map((batch) => ({
        place: batch.number,
        entry: { kind: 'batch', ...batch.toRecord() } as const,
      })),
    ];
    return entries.sort((one, other) => one.place - other.place).map(({ entry }) => entry);
  }

  clear(): void {
    this.contents.clear();
    this.messages = [];
    this.size = 0;
  }
}

interface SentMessage {
  readonly conversation: string;
  readonly before: number;
  readonly message: ConversationMessage;
}

/**
 * @param batches in order of acceptance
 * @param end only batches that were accepted before the one with this number
 */
export function filterBatches(
  batches: readonly MemoryBatch[],
  end: number,
  { conversation, waiting, prefix, limit }: BatchFilter,
): readonly BatchRecord[] {
  return batches
    .filter(
      ({ entry, decision, number }) =>
        number < end &&
        (conversation === undefined || entry.conversation === conversation) &&
        (waiting !== true || decision === 'wait') &&
        (prefix === undefined || entry.id.startsWith(prefix)),
    )
    .reverse()
    .slice(0, limit)
    .map((batch) => batch.toRecord());
}
