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

/** A call as the memory journal keeps it. A record is made of it only when it is read. */
export class MemoryCall {
  worker: Worker | undefined = undefined;
  startedAt = 0;
  /** Without its content. */
  result: ToolResult | undefined = undefined;
  content: (() => readonly ContentBlock[]) | undefined = undefined;
  finishedAt = 0;
  notes: JournalNote[] | undefined = undefined;
  /** The arguments as they came, kept where a second delivery will be compared with them. */
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
      state: result !== undefined ? 'done' : worker !== undefined ? 'running' : 'queued',
      ...(batch.entry.worker === undefined ? {} : { acceptedBy: batch.entry.worker }),
      ...(batch.decision === undefined ? {} : { decision: batch.decision }),
      ...settledBy(batch.decisions?.at(-1), entry.callId, result),
      acceptedAt: batch.entry.at,
      ...(worker === undefined ? {} : { worker, startedAt: this.startedAt }),
      ...(result === undefined ? {} : { result, finishedAt: this.finishedAt }),
    };
  }

  /** Bytes of content are kept with those of all calls, so that the oldest can go. */
  answer(whole: ToolResult, contents: MemoryContents): void {
    this.result = whole;
    if (whole.content === undefined) return;
    const { content, ...result } = whole;
    this.result = result;
    const blocks = storeBlocks(content, (_, bytes) => contents.keep(bytes));
    this.content = () => restoreBlocks(blocks, (hash) => contents.kept(hash));
  }

  /** Its answer is no final word: it was not decided about, or not run because the journal failed. */
  get isOpen(): boolean {
    const error = this.result?.error;
    if (error?.code === 'journal_unavailable') return error.details?.executed === 'no';
    return error?.code === 'approval_unavailable';
  }

  /** Whether another delivery asks for the same; the order of an object's members does not count. */
  isRepeatedBy(entry: CallEntry): boolean {
    if (entry.toolName !== this.entry.toolName || this.argsText === undefined) return false;
    if (JSON.stringify(entry.args) === this.argsText) return true;
    return canonicalize(entry.args) === canonicalize(JSON.parse(this.argsText));
  }
}

export class MemoryBatch {
  /** In order of delivery; one that attached is the first delivery, which belongs to another batch. */
  readonly calls: MemoryCall[];
  /** Calls of its own that are not done. */
  open = 0;
  decisions: BatchDecision[] | undefined = undefined;
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

  /** Whether the decision counts: then it is kept. */
  decide(decision: BatchDecision): boolean {
    const waits = this.decision === 'wait';
    if (decision.kind === 'wait' ? waits || this.open === 0 : !waits) return false;
    this.decisions ??= [];
    this.decisions.push(decision);
    return true;
  }

  toRecord(): BatchRecord {
    const { calls, ...entry } = this.entry;
    const { decision } = this;
    return { ...entry, size: calls.length, ...(decision === undefined ? {} : { decision }) };
  }

  /** What it counts against the capacity; never nothing, so that empty batches are bounded too. */
  get weight(): number {
    return this.calls.length || 1;
  }
}

/** What a finish that came too late leaves behind as evidence. */
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

/** Bytes that are kept in all; the oldest go first. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024;

/** What a memory journal keeps besides calls: contents by their hash, and messages. */
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

  /** @param before the number of the batch that will come next */
  send(conversation: string, message: ConversationMessage, before: number): void {
    this.messages.push({ conversation, before, message });
    // Not one by one: an array is moved as a whole.
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

/** @param batches in order of acceptance */
export function filterBatches(
  batches: readonly MemoryBatch[],
  { conversation, waiting, prefix, before, limit }: BatchFilter,
): readonly BatchRecord[] {
  const end = before === undefined ? batches.length : batches.findIndex(({ entry }) => entry.id === before);
  return batches
    .slice(0, Math.max(end, 0))
    .filter(
      ({ entry, decision }) =>
        (conversation === undefined || entry.conversation === conversation) &&
        (waiting !== true || decision === 'wait') &&
        (prefix === undefined || entry.id.startsWith(prefix)),
    )
    .reverse()
    .slice(0, limit)
    .map((batch) => batch.toRecord());
}
