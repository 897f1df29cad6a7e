import { hash } from 'node:crypto';
import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';

/** A block in a result's record: its bytes are stored separately under their hash. */
type StoredBlock = JsonObject;

interface KeptBytes {
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Every record of a result with stored bytes contains this; a tool's text cannot, because JSON escapes its
 * quotes.
 */
export const CONTENT_MARK = '"data":{"sha256":"';
const CONTENT_HASH = /"data":\{"sha256":"([0-9a-f]{64})"/g;

/** The hashes of the bytes that a result's record names. */
export function contentHashes(record: string): readonly string[] {
  return [...record.matchAll(CONTENT_HASH)].map(([, hash = '']) => hash);
}

/** @param keep receives the bytes of each block, to store them under their hash. */
export function storeBlocks(
  content: readonly ContentBlock[],
  keep: (hash: string, bytes: Uint8Array) => void,
): readonly StoredBlock[] {
  return content.map((block) => {
    const { data, text, ...rest } = { data: undefined, text: undefined, ...block };
    if (data === undefined) return text === undefined ? rest : { ...rest, text };
    const hash = sha256(data);
    keep(hash, data);
    return { ...rest, data: { sha256: hash, bytes: data.length } };
  });
}

/** Restores the blocks; a text replaces bytes that are no longer stored. */
export function restoreBlocks(
  stored: readonly StoredBlock[],
  find: (hash: string) => Uint8Array | undefined,
): readonly ContentBlock[] {
  return Object.freeze(
    stored.map((block) => {
      const kept = block.data;
      if (!isKept(kept)) return withBase64Json(toBlock(block));
      const data = find(kept.sha256);
      return withBase64Json<ContentBlock>(
        data === undefined
          ? { type: 'text', text: `[${nameOf(block)}, ${kept.bytes} bytes: no longer kept]` }
          : // A copy: the bytes may belong to the journal.
            toBlock({ ...block, data: new Uint8Array(data) }),
      );
    }),
  );
}

/** Rebuilds a result from its record. */
export function restoreResult(
  { content, ...result }: ToolResult & { readonly content?: unknown },
  find: (hash: string) => Uint8Array | undefined,
): ToolResult {
  return Array.isArray(content) ? { ...result, content: restoreBlocks(content, find) } : result;
}

/** Restores the type of a block that this program wrote. */
function toBlock(block: object): ContentBlock {
  return { ...block } as ContentBlock;
}

function isKept(value: unknown): value is KeptBytes {
  return typeof value === 'object' && value !== null && 'sha256' in value && typeof value.sha256 === 'string';
}

function nameOf({ type, uri, mediaType }: StoredBlock): string {
  return [type, uri, mediaType].filter((part) => typeof part === 'string').join(' ');
}

/** SHA-256 in hex of a text's UTF-8. */
export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}
