import type {
  BatchFilter,
  BatchRecord,
  ConversationEntry,
  ConversationMessage,
} from '../contract/journal.js';
import { sha256 } from './link-hash.js';
import type { MemoryBatch } from './memory-call.js';

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
