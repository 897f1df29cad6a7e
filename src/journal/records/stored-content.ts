import { hash } from 'node:crypto';
import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';

/** A block as a result's record holds it: bytes are kept beside it, under their hash. */
type StoredBlock = JsonObject;

interface KeptBytes {
  readonly sha256: string;
  readonly bytes: number;
}

/** Every record of a result with kept bytes holds this; no text of a tool does, because JSON escapes its quotes. */
export const CONTENT_MARK = '"data":{"sha256":"';
const CONTENT_HASH = /"data":\{"sha256":"([0-9a-f]{64})"/g;

/** The hashes of the bytes that the record of a result names. */
export function contentHashes(record: string): readonly string[] {
  return [...record.matchAll(CONTENT_HASH)].map(([, hash = '']) => hash);
}

/** @param keep is handed the bytes of each block, to be kept under their hash. */
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

/** The blocks as they were; in the place of bytes that are not kept any more a text says so. */
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
          ? { type: 'text', text: `[${nameOf(block)}, ${kept.bytes} bytes: not kept any more]` }
          : // A copy: the bytes may belong to the journal.
            toBlock({ ...block, data: new Uint8Array(data) }),
      );
    }),
  );
}

/** What becomes of a result whose record was read. */
export function restoreResult(
  { content, ...result }: ToolResult & { readonly content?: unknown },
  find: (hash: string) => Uint8Array | undefined,
): ToolResult {
  return Array.isArray(content) ? { ...result, content: restoreBlocks(content, find) } : result;
}

/** What this house wrote gets its type back. */
function toBlock(block: object): ContentBlock {
  return { ...block } as ContentBlock;
}

function isKept(value: unknown): value is KeptBytes {
  return typeof value === 'object' && value !== null && 'sha256' in value && typeof value.sha256 === 'string';
}

function nameOf({ type, uri, mediaType }: StoredBlock): string {
  return [type, uri, mediaType].filter((part) => typeof part === 'string').join(' ');
}

/** Hexadecimal SHA-256 of a text's UTF-8. */
export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}
