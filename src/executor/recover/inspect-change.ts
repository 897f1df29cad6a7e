import { createHash } from 'node:crypto';
import type { ContainedFiles, FileStat } from '../../contract/files.js';
import { isToolError } from '../../errors/tool-error.js';
import type { NotedChange, NotedIntent } from './noted-change.js';

/**
 * What a file is now, held against what was noted: `same` where the change changes nothing, `changed` where it is
 * neither of both.
 */
export type FileState = 'before' | 'after' | 'same' | 'changed' | 'unreadable';

export interface InspectedChange {
  readonly change: NotedChange;
  readonly state: FileState;
}

/** The last change of a call, as its files are now. */
export interface InspectedIntent extends Pick<NotedIntent, 'made'> {
  readonly changes: readonly InspectedChange[];
  readonly rolledBack: boolean;
}

/** @param files that take canonical paths */
export async function inspectIntent(
  { changes }: NotedIntent,
  files: ContainedFiles,
): Promise<readonly InspectedChange[]> {
  const inspected: InspectedChange[] = [];
  for (const change of changes) inspected.push({ change, state: await inspectChange(change, files) });
  return inspected;
}

/** `mixed`: some files are as before, some as after. Undefined: nobody can tell. */
export function verdictOf(
  inspected: readonly InspectedChange[],
): 'applied' | 'not_applied' | 'mixed' | undefined {
  const states = new Set(inspected.map(({ state }) => state));
  if (states.has('changed') || states.has('unreadable')) return undefined;
  if (!states.has('before')) return 'applied';
  return states.has('after') ? 'mixed' : 'not_applied';
}

async function inspectChange(change: NotedChange, files: ContainedFiles): Promise<FileState> {
  const { before, after, beforeKind } = change;
  try {
    if (beforeKind !== undefined) return stateOfEntry(change, await statIfThere(change.path, files));
    const now = await hashOfFile(change.path, files);
    if (now === before) return now === after ? 'same' : 'before';
    return now === after ? 'after' : 'changed';
  } catch {
    return 'unreadable';
  }
}

/**
 * SHA-256 of a regular file; null where there is nothing, undefined for what is no file.
 * @throws ToolError where it may not or cannot be read.
 */
export async function hashOfFile(path: string, files: ContainedFiles): Promise<string | null | undefined> {
  const stat = await statIfThere(path, files);
  return stat === undefined ? null : hashFile(path, stat, files);
}

/** Of a link only that it is there can be told: its text is not read. */
function stateOfEntry({ beforeKind, after }: NotedChange, stat: FileStat | undefined): FileState {
  if (stat === undefined) return after === null ? 'after' : 'changed';
  if (stat.type === 'symlink' ? beforeKind === 'link' : stat.type === 'other') return 'before';
  return 'changed';
}

async function statIfThere(path: string, files: ContainedFiles): Promise<FileStat | undefined> {
  try {
    return await files.stat(path);
  } catch (error) {
    if (isToolError(error) && error.details?.errno === 'ENOENT') return undefined;
    throw error;
  }
}

const CHUNK_BYTES = 8 * 1024 * 1024;

async function hashFile(
  path: string,
  { type }: FileStat,
  files: ContainedFiles,
): Promise<string | undefined> {
  if (type !== 'file') return undefined;
  const hash = createHash('sha256');
  for (let offset = 0; ; ) {
    const chunk = await files.read(path, { offset, length: CHUNK_BYTES });
    hash.update(chunk);
    offset += chunk.length;
    if (chunk.length < CHUNK_BYTES) return hash.digest('hex');
  }
}
