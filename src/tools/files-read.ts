import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { ConversationMemory, ToolContext } from '../contract/context.js';

/** What a conversation knows of a file's content, for stale-file protection (D070, D071). */
export interface FileRecord {
  /** Of the whole content, lower-case hex. */
  readonly sha256: string;
  /** When it was read or written, milliseconds since the epoch; left out where the tool was given no clock. */
  readonly at?: number;
}

const KEY = 'files-read';

/** The files that this conversation has read or written, by canonical path (D071). */
export function filesRead(memory: ConversationMemory): Map<string, FileRecord> {
  const known = memory.get(KEY);
  if (known instanceof Map) return known;
  const fresh = new Map<string, FileRecord>();
  memory.set(KEY, fresh);
  return fresh;
}

/** The path under which a file is remembered: links resolved where the files can tell. */
export function canonicalPath(ctx: ToolContext, path: string): string {
  return ctx.files.resolve?.(path) ?? resolve(ctx.cwd, path);
}

export function fileRecord(sha256: string, now: (() => number) | undefined): FileRecord {
  return now === undefined ? { sha256 } : { sha256, at: now() };
}

export function sha256Of(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
