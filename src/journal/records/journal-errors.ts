import { type ErrorDetails, ToolError } from '../../errors/tool-error.js';
import { errnoOf } from '../../platform/fs/fs-entry.js';
import { type SqliteFailure, sqliteFailure } from '../../platform/sqlite/sqlite.js';

/** The error of a journal: the failed action, the reason, and the remedy. */
export function journalUnavailable(
  action: string,
  reason: string,
  remedy: string,
  options: { readonly details?: ErrorDetails; readonly cause?: unknown } = {},
): ToolError {
  return new ToolError('journal_unavailable', `${action}: ${reason}. ${remedy}`, options);
}

export function batchIsKnown(id: string): ToolError {
  return journalUnavailable(
    `Cannot accept batch "${id}"`,
    'a batch with this id is recorded already',
    'Give every batch a different id.',
  );
}

export function batchIsUnknown(action: string, id: string): ToolError {
  return journalUnavailable(
    `Cannot ${action} batch "${id}"`,
    'the journal holds no such batch',
    'Use the id of a batch that it accepted.',
  );
}

export function callIsUnknown(action: string, key: string): ToolError {
  return journalUnavailable(
    `Cannot ${action} call "${key}"`,
    'the journal holds no such call',
    'Use a key that accept answered with.',
  );
}

export function journalIsClosed(action: string): ToolError {
  return journalUnavailable(`Cannot ${action}`, 'the journal is closed', 'Open it again, or close it later.');
}

/** Turns any error from using the journal at `path` into a `journal_unavailable` with a remedy. */
export function journalFailure(path: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const { reason, remedy } = explain(error);
  const cause = error instanceof Error ? error.message : String(error);
  return journalUnavailable(`Cannot use the journal "${path}"`, `${reason} (${cause})`, remedy, {
    details: { path },
    cause: error,
  });
}

interface Explanation {
  readonly reason: string;
  readonly remedy: string;
}

function explain(error: unknown): Explanation {
  const errno = errnoOf(error);
  const known = errno === undefined ? undefined : BY_ERRNO[errno];
  if (known !== undefined) return known;
  return BY_FAILURE[isSystemError(error) ? 'environment' : sqliteFailure(error)];
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

const NOT_WRITABLE: Explanation = {
  reason: 'it cannot be written',
  remedy: 'Make the file and its directory writable, or choose another place.',
};

const FULL: Explanation = {
  reason: 'the disk is full',
  remedy: 'Free disk space, or choose another place.',
};

const OUT_OF_DESCRIPTORS: Explanation = {
  reason: 'this process, or the system, has too many files open',
  remedy: 'Close some, or raise the limit (ulimit -n).',
};

const BY_ERRNO: Readonly<Record<string, Explanation>> = {
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: NOT_WRITABLE,
  EISDIR: { reason: 'it is a directory', remedy: 'Name a file in it.' },
  ENOTDIR: { reason: 'a part of its path is not a directory', remedy: 'Choose another place.' },
  EEXIST: { reason: 'a part of its path is not a directory', remedy: 'Choose another place.' },
  ENAMETOOLONG: { reason: 'its path is too long', remedy: 'Choose a shorter one, of at most 500 bytes.' },
  ELOOP: { reason: 'its symbolic links lead in a circle', remedy: 'Name the file itself.' },
  EMFILE: OUT_OF_DESCRIPTORS,
  ENFILE: OUT_OF_DESCRIPTORS,
  ENOSPC: FULL,
  EDQUOT: FULL,
};

const BY_FAILURE: Readonly<Record<SqliteFailure, Explanation>> = {
  busy: {
    reason: 'another process has been writing to it for too long',
    remedy: 'End that process, wait for it, or choose another file.',
  },
  statement: { reason: 'the given values cannot be recorded', remedy: 'Give JSON values and finite times.' },
  damaged: {
    reason: 'it is not a journal, or it is damaged',
    remedy: 'Restore it from a copy, or move it away and start a new one.',
  },
  full: FULL,
  'read-only': NOT_WRITABLE,
  environment: {
    reason: 'the system refuses it',
    remedy: 'Check the disk and the file’s access rights, or choose another place.',
  },
};
