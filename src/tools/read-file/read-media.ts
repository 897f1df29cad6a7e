import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock } from '../../contract/call.js';
import type { ToolContext } from '../../contract/context.js';
import { canonicalPath } from '../files-read.js';
import { looksBinary, type ReadOutcome } from './read-outcome.js';
import type { SequentialReader } from './sequential-reader.js';

interface MediaKind {
  readonly mediaType: string;
  readonly extension: RegExp;
  readonly begins: (head: Uint8Array) => boolean;
}

/** Formats that models can view. */
const KINDS: readonly MediaKind[] = [
  { mediaType: 'image/png', extension: /\.png$/i, begins: (head) => has(head, 0, '\x89PNG\r\n\x1a\n') },
  { mediaType: 'image/jpeg', extension: /\.jpe?g$/i, begins: (head) => has(head, 0, '\xff\xd8\xff') },
  {
    mediaType: 'image/gif',
    extension: /\.gif$/i,
    begins: (head) => has(head, 0, 'GIF87a') || has(head, 0, 'GIF89a'),
  },
  {
    mediaType: 'image/webp',
    extension: /\.webp$/i,
    begins: (head) => has(head, 0, 'RIFF') && has(head, 8, 'WEBP'),
  },
  { mediaType: 'application/pdf', extension: /\.pdf$/i, begins: (head) => has(head, 0, '%PDF-') },
];

function has(head: Uint8Array, at: number, bytes: string): boolean {
  for (let index = 0; index < bytes.length; index++) {
    if (head[at + index] !== bytes.charCodeAt(index)) return false;
  }
  return true;
}

/** Detects the kind of a file by its first bytes; if these could be text too, its name must agree. */
export function mediaKindOf(path: string, head: Uint8Array): MediaKind | undefined {
  const kind = KINDS.find(({ begins }) => begins(head));
  return kind !== undefined && (looksBinary(head) || kind.extension.test(path)) ? kind : undefined;
}

/** An image or a PDF as content; undefined if it is larger than a result may be. */
export async function readMedia(
  path: string,
  { mediaType }: MediaKind,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome | undefined> {
  const most = ctx.limits.maxContentBytes;
  const stat = await ctx.files.stat(path);
  if (stat.type === 'file' && stat.size > most) return undefined;
  // It may have grown meanwhile.
  if ((await reader.peek(most + 1)).length > most) return undefined;
  const data = await reader.next(most);
  return {
    text: '',
    content: [toBlock(mediaType, data, reader.canonical ?? canonicalPath(ctx, path))],
    metadata: { media_type: mediaType, bytes_read: data.length },
    truncatable: true,
  };
}

function toBlock(mediaType: string, data: Uint8Array, path: string): ContentBlock {
  if (mediaType.startsWith('image/')) return { type: 'image', mediaType, data };
  const uri = isAbsolute(path) ? pathToFileURL(path).href : path;
  return { type: 'resource', uri, mediaType, data };
}
