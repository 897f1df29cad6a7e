import { createHash } from 'node:crypto';
import type { ContentBlock, ToolResult } from '../contract/call.js';
import type { CallRecord } from '../contract/journal.js';
import { asDecided } from '../executor/record/attach.js';

/** Longer content of a block is fetched separately, with `GET /v1/blobs/REF`. In bytes. */
const MOST_INLINE = 65_536;

/** A result as clients get it: long content is replaced by a reference. */
export type ShownResult = Omit<ToolResult, 'content'> & { readonly content?: readonly object[] };

/** The content of a block to which a result only refers. */
interface BlobPlace {
  readonly batchId: string;
  readonly index: number;
  /** SHA-256 in hex. */
  readonly hash: string;
}

const REF = /^(.+)\.(\d{1,9})\.([\da-f]{64})$/;

export function parseBlobRef(ref: string): BlobPlace | undefined {
  const [, batchId, index, hash] = REF.exec(ref) ?? [];
  return batchId === undefined || hash === undefined ? undefined : { batchId, index: Number(index), hash };
}

/** The result of a call that is done. */
export function shownResult(record: CallRecord, result: ToolResult): ShownResult {
  const { content, ...rest } = asDecided(record, result);
  if (content === undefined) return rest;
  return { ...rest, content: content.map((block) => shownBlock(block, record)) };
}

/** The bytes that a reference names; undefined: the result has no such block. */
export function findBlob({ result }: CallRecord, hash: string): Uint8Array | undefined {
  for (const block of result?.content ?? []) {
    const data = longData(block);
    if (data !== undefined && hashOf(data) === hash) return data;
  }
  return undefined;
}

function shownBlock(block: ContentBlock, { batchId, index }: CallRecord): object {
  const data = longData(block);
  if (data === undefined) return block;
  const sha256 = hashOf(data);
  const { data: _data, ...named } = { data, ...block };
  return { ...named, bytes: data.length, sha256, blob: `${batchId}.${index}.${sha256}` };
}

function longData(block: ContentBlock): Uint8Array | undefined {
  const data = 'data' in block ? block.data : undefined;
  return data !== undefined && data.length > MOST_INLINE ? data : undefined;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
