import { errnoOf, targetOf } from '../platform/fs/fs-entry.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { replaceFile } from '../platform/fs/replace-file.js';
import type { CliContext } from './cli-context.js';
import { flushOutput, UsageError } from './cli-context.js';

/**
 * Writes the file that a person named, completely or not at all, and reports it; `-` is standard output.
 * @throws UsageError if something else is there, or the system refuses
 */
export async function writeOutputFile(file: string, text: string, stdio: CliContext['stdio']): Promise<void> {
  const { stdout, stderr } = stdio;
  if (file === '-') {
    stdout.write(text);
    await flushOutput(stdio);
    return;
  }
  if (file === '') throw new UsageError('Cannot write "": name a file, or - for standard output.');
  const cannot = (why: string, cause?: unknown): UsageError =>
    new UsageError(`Cannot write ${JSON.stringify(file)}: ${why}`, cause === undefined ? {} : { cause });
  const found = targetOf(file);
  if (found?.isDirectory() === true) throw cannot('it is a directory. Name a file in it.');
  if (found !== undefined && !found.isFile()) throw cannot('it is not a regular file. Name another place.');
  try {
    replaceFile(realPlace(file), text);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    throw cannot(REASONS[errno] ?? `the system refuses it (${errno}).`, error);
  }
  const size =
    text.length < 100_000 ? `${Math.ceil(text.length / 1000)} KB` : `${(text.length / 1e6).toFixed(1)} MB`;
  stderr.write(`toolexec: wrote ${JSON.stringify(file)} (${size})\n`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist. Make it first.',
  ENOTDIR: 'a part of its path is a file. Check the path.',
  EACCES: 'permission is denied. Choose another place.',
  EPERM: 'permission is denied. Choose another place.',
  EROFS: 'the file system is read-only. Choose another place.',
  ENOSPC: 'the disk is full. Free disk space, or choose another place.',
  EDQUOT: 'the disk quota is used up. Free disk space, or choose another place.',
  ENAMETOOLONG: 'its name is too long. Choose a shorter one.',
};
