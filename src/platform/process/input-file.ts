import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../fs/remove-tree.js';
import { openUnnamedFile } from '../fs/scratch.js';
import { ownIds } from '../runtime/environment.js';
import { makeOwnDirectory, ownDirectories, privateDirectory } from './transaction-directory.js';

/** An open file whose text a program reads as its standard input. */
export interface InputFile {
  readonly fd: number;
  close(): void;
}

/**
 * A file is used instead of a pipe: a program that never reads its input causes no broken pipe, and one that
 * reads late does not block a writer. The file is open for reading at its start, and has no name in any
 * directory.
 */
export function openInputFile(text: string): InputFile {
  const fd = openUnnamed(text) ?? openNamed(text);
  return { fd, close: () => closeSync(fd) };
}

/**
 * The same with a name, for uses that need a path. Other users cannot read it. Files left by killed processes
 * are removed when the next one is made.
 */
export function writeInputFile(text: string): { readonly path: string; close(): void } {
  const folder = inputFolder();
  const path = join(folder, 'input');
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { path, close: () => rmSync(folder, { recursive: true, force: true }) };
}

function inputFolder(): string {
  const place = privateDirectory(join(tmpdir(), `toolexec-inputs-${ownIds().uid}`));
  if (place === undefined) return mkdtempSync(join(tmpdir(), 'toolexec-input-'));
  for (const { path, maker } of ownDirectories(place, 'input')) if (maker === 'gone') removeTree(path);
  return makeOwnDirectory(place, 'input', []);
}

function openUnnamed(text: string): number | undefined {
  const writable = openUnnamedFile(0o400, text);
  if (writable === undefined) return undefined;
  try {
    return openSync(`/proc/self/fd/${writable}`, 'r');
  } catch {
    return undefined;
  } finally {
    closeSync(writable);
  }
}

function openNamed(text: string): number {
  const path = join(tmpdir(), `toolexec-${randomBytes(12).toString('hex')}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  try {
    return openSync(path, 'r');
  } finally {
    rmSync(path, { force: true });
  }
}
