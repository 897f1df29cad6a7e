import { isToolError, ToolError } from '../errors/tool-error.js';
import { describeErrno, errnoOf } from '../platform/fs/fs-entry.js';
import type { Handle } from '../platform/fs/open-handle.js';
import { syncShared } from './shared-sync.js';

type FileAction = 'read' | 'write' | 'list' | 'look at' | 'remove' | 'rename' | 'use';

/** An error like that of a system call. `fileFailure` turns it into an answer. */
export function fileSystemError(errno: string): Error {
  return Object.assign(new Error(errno), { code: errno });
}

/** Runs an operation and puts system errors into words. */
export function withFailures<Value>(action: FileAction, asked: string, operation: () => Value): Value {
  try {
    return operation();
  } catch (error) {
    throw fileFailure(action, asked, error);
  }
}

/** The same for an asynchronous operation. */
export async function withLaterFailures<Value>(
  action: FileAction,
  asked: string,
  operation: () => Promise<Value>,
): Promise<Value> {
  try {
    return await operation();
  } catch (error) {
    throw fileFailure(action, asked, error);
  }
}

/**
 * Makes changed names durable: syncs the directories in this order. They stay open meanwhile.
 * @throws ToolError `execution_failed` with `details.changed: true` if the disk refuses: the files are
 * changed, and only a power loss could undo that.
 */
export async function syncChange(asked: string, directories: readonly Handle[]): Promise<void> {
  let refusal: unknown;
  for (const directory of directories) {
    try {
      await syncShared(directory);
    } catch (error) {
      refusal ??= error;
    }
  }
  if (refusal === undefined) return;
  const errno = errnoOf(refusal) ?? 'EIO';
  throw new ToolError(
    'execution_failed',
    `${JSON.stringify(asked)} has changed, but the disk did not confirm it: ${describeErrno(errno)} (${errno}). ` +
      'A power failure could undo the change. Check the disk, then look at the file.',
    { details: { errno, path: asked, changed: true, executed: 'yes' }, cause: refusal },
  );
}

/** `execution_failed` with `details.errno`, in words that name the path as it was requested. */
function fileFailure(action: FileAction, asked: string, error: unknown): unknown {
  if (isToolError(error)) return error;
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  return new ToolError('execution_failed', describe(action, asked, errno), {
    details: { errno, path: asked },
    cause: error,
  });
}

function describe(action: FileAction, asked: string, errno: string): string {
  const path = JSON.stringify(asked);
  if (errno === 'ENOENT') return `file not found: ${asked}`;
  if (errno === 'EISDIR') return `path is a directory, not a file: ${asked}`;
  if (errno === 'ENOTDIR' && action === 'list') return `path is not a directory: ${asked}`;
  if (errno === 'ENOTDIR' && action === 'write') {
    return `Cannot write ${path}: a part of its path is a file, not a directory. Choose another path.`;
  }
  if (errno === 'ENOTDIR') return `file not found: ${asked} (a part of its path is a file, not a directory)`;
  if (errno === 'EEXIST') {
    return `Cannot ${action} ${path}: it already exists. Use the mode "overwrite" to replace it.`;
  }
  return `Cannot ${action} ${path}: ${describeErrno(errno)} (${errno}).`;
}
