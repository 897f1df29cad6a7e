import { concludeDone, isTransactionDirectory } from '../../commands/transaction/sweep-transactions.js';
import { oldVersion } from '../../commands/transaction/transaction-plan.js';
import type { CallRecord, JournalNote } from '../../contract/journal.js';
import type { PicturePart } from '../../contract/picture.js';
import { isToolError } from '../../errors/tool-error.js';
import { describeRecorded } from '../../executor/approve/describe-recorded.js';
import { transactionsIn } from '../../executor/record/noted-transactions.js';
import type { JournalArchive } from '../../journal/open-archive.js';
import { toBinary, toText } from '../../platform/fs/binary-fs.js';
import { readFileBytes } from '../../platform/fs/read-file-bytes.js';
import { openArchiveAt } from '../journal-store.js';
import { readWhole } from '../recorded-batches.js';

/** A call of a conversation and its file changes. */
export interface ChangingCall {
  readonly callId: string;
  readonly toolName: string;
  readonly isUndone: boolean;
  /** The old and new content of each file; picture parts that are not files are left out. */
  readonly parts: readonly FilePart[];
}

export type FilePart = PicturePart & { readonly kind: 'diff' | 'file' | 'unshown' };

/** The tool name of undo records in the journal. */
const UNDO = 'undo';

/** For larger files, only the fact of a change is shown. */
const MOST_BYTES = 1024 * 1024;

/** The calls of a conversation that changed files, newest first, from its journal. */
export async function changingCalls(
  journal: string,
  conversation: string,
  callId?: string,
): Promise<readonly ChangingCall[]> {
  const archive = await openQuietly(journal, conversation);
  if (archive === undefined) return [];
  try {
    const found: ChangingCall[] = [];
    for (const batch of archive.batches({ conversation })) {
      for (const call of readWhole(archive, batch).calls.toReversed()) {
        if (call.batchId !== batch.id || (callId !== undefined && call.callId !== callId)) continue;
        const parts = await filesOf(call, call.notes, archive);
        if (parts.length === 0 || call.toolName === UNDO) continue;
        const isUndone = call.notes.some(({ kind, data }) => kind === 'undo' && typeof data.by === 'string');
        found.push({ callId: call.callId, toolName: call.toolName, isUndone, parts });
        if (callId !== undefined) return found;
      }
    }
    return found;
  } finally {
    archive.close();
  }
}

/** The next command reports an unreadable journal. */
export async function openQuietly(
  journal: string,
  conversation: string,
): Promise<JournalArchive | undefined> {
  try {
    return await openArchiveAt(journal, { conversation });
  } catch (error) {
    if (isToolError(error, 'journal_unavailable')) return undefined;
    throw error;
  }
}

async function filesOf(
  call: CallRecord,
  notes: readonly JournalNote[],
  archive: JournalArchive,
): Promise<readonly FilePart[]> {
  const directories = transactionsIn(notes).filter(({ state }) => state === 'committed');
  const ofCommands = directories.flatMap(({ directory }) => filesOfTransaction(directory));
  if (ofCommands.length > 0 || !notes.some(({ kind }) => kind === 'intent')) return ofCommands;
  const contents = { kept: (hash: string) => archive.kept(hash), now: readQuietly };
  const { parts } = await describeRecorded(call, notes, contents);
  return parts.filter((part): part is FilePart => FILES.includes(part.kind));
}

const FILES: readonly PicturePart['kind'][] = ['diff', 'file', 'unshown'];

/** The changes of a command: old versions are stored, new ones are the current files. */
function filesOfTransaction(directory: string): readonly FilePart[] {
  const done = isTransactionDirectory(directory) ? concludeDone(directory) : undefined;
  if (done === undefined) return [];
  return done.changes.flatMap(({ change, kind, root, path: below }, index): FilePart[] => {
    if (kind === 'dir') return [];
    const path = `${done.roots[root] ?? ''}/${toText(below)}`;
    const old = change === 'create' ? undefined : readQuietly(toText(oldVersion(toBinary(directory), index)));
    const now = change === 'delete' ? undefined : readQuietly(path);
    const [before, after] = [textOf(old), textOf(now)];
    if (change === 'create' && after !== undefined) return [{ kind: 'file', path, text: after }];
    if (change === 'delete' && before !== undefined)
      return [{ kind: 'diff', path, before, after: undefined }];
    if (before !== undefined && after !== undefined) return [{ kind: 'diff', path, before, after }];
    const why = `${CHANGED[change]}, and is not text that can be shown`;
    return [{ kind: 'unshown', path, why, bytesBefore: old?.length, bytesAfter: now?.length }];
  });
}

const CHANGED = { create: 'it was made', modify: 'it was changed', delete: 'it was removed' } as const;

function readQuietly(path: string): Uint8Array | undefined {
  try {
    return readFileBytes(path, { maxBytes: MOST_BYTES, acceptPipes: false });
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
