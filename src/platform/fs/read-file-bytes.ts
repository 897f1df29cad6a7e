import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { sleepSync } from '../clock/clock.js';
import { entryStat, errnoOf } from './fs-entry.js';
import { ReadFailure, tooLarge, toReadFailure } from './read-file.js';

export interface ReadBytesOptions {
  readonly maxBytes: number;
  /** Also read pipes and devices (`<(…)`), which have no size and may be slow. */
  readonly acceptPipes: boolean;
  /** Refuse a file that another user may have written. */
  readonly ownOnly?: boolean;
}

const PIECE_BYTES = 64 * 1024;
/** How long a pipe may have no writer, in milliseconds. */
const NO_WRITER_MS = 2000;
/** How long a writer may write nothing, in milliseconds. */
const SILENCE_MS = 10_000;
const PAUSE_MS = 10;

/**
 * Reads all bytes of a file. Always ends: it gives up on a pipe without a writer.
 * @throws ReadFailure with the reason in words.
 */
export function readFileBytes(path: string, options: ReadBytesOptions): Uint8Array {
  if (path.includes('\0')) throw new ReadFailure('its name holds a NUL character.', 'Check the name.');
  let descriptor: number | undefined;
  try {
    // Without `O_NONBLOCK`, opening a pipe would wait for its other end.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) throw Object.assign(new Error('is a directory'), { code: 'EISDIR' });
    if (!stat.isFile() && !options.acceptPipes) {
      throw new ReadFailure('it is a pipe or a device.', 'Replace it with a file.');
    }
    if (options.ownOnly === true) requireOwn(stat);
    if (stat.isFile() && stat.size > options.maxBytes) throw tooLarge(options.maxBytes);
    return readToEnd(descriptor, options.maxBytes, stat.isFIFO());
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && entryStat(path) !== undefined) {
      throw new ReadFailure('it is a symbolic link that leads nowhere.', 'Remove or repair it.', error);
    }
    throw toReadFailure(error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

// A repository can contain such a file, but not with a mode that lets only its owner read it: Git does not store such
// modes.
function requireOwn(stat: Stats): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (stat.uid !== user) throw new ReadFailure('it belongs to another user.', 'Remove it.');
  if ((stat.mode & 0o077) !== 0) {
    throw new ReadFailure(
      'other users have access to it.',
      'If you wrote it yourself, make it private (chmod 600).',
    );
  }
}

function readToEnd(descriptor: number, maxBytes: number, isPipe: boolean): Uint8Array {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for (let waitedMs = 0; ; ) {
    const chunk = readChunk(descriptor);
    const isEnd = chunk !== undefined && chunk.length === 0;
    // Before the first byte, the end of a pipe may also mean that its writer has not opened it yet.
    if (isEnd && (!isPipe || total > 0 || waitedMs >= NO_WRITER_MS)) break;
    if (chunk === undefined || isEnd) {
      if (waitedMs >= SILENCE_MS) throw new ReadFailure('nothing comes from it.', 'Name a file.');
      sleepSync(PAUSE_MS);
      waitedMs += PAUSE_MS;
      continue;
    }
    waitedMs = 0;
    total += chunk.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  if (isPipe && total === 0) throw new ReadFailure('this pipe has no writer.', 'Name a file.');
  return Buffer.concat(chunks);
}

/** Empty at the end; undefined if nothing has arrived yet. */
function readChunk(descriptor: number): Uint8Array | undefined {
  const chunk = new Uint8Array(PIECE_BYTES);
  try {
    return chunk.subarray(0, readSync(descriptor, chunk));
  } catch (error) {
    if (errnoOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}
