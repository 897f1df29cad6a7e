import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeQuietly } from '../fs/make-and-remove.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/**
 * Makes a directory, with files in it, that only this user can read and that is removed when this process
 * ends. Undefined if it cannot be made.
 */
export function makeKeptDirectory(files: Readonly<Record<string, string | Uint8Array>>): string | undefined {
  let path: string | undefined;
  try {
    path = join(ownDirectory(), `${++count}`);
    mkdirSync(path, { mode: 0o700 });
    for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
    return path;
  } catch {
    if (path !== undefined) removeQuietly(path);
    return undefined;
  }
}

let count = 0;
let own: string | undefined;

const PREFIX = 'toolexec-kept-';
const NAME = new RegExp(`^${PREFIX}([0-9a-f]{${TAG_DIGITS}})-`);

function ownDirectory(): string {
  if (own !== undefined) return own;
  sweep();
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), `${PREFIX}${ownTag()}-`)));
  process.once('exit', () => removeQuietly(path));
  own = path;
  return path;
}

/** Removes the directories of processes that were killed. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const tag = NAME.exec(name)?.[1];
    // Directories of other users stay: every user can write to the temporary directory.
    if (tag !== undefined && fateOf(tag) === 'gone') removeQuietly(join(tmpdir(), name));
  }
}

/** The contents of a file in the directory; empty if there is no such file. */
export function readKeptFile(directory: string, name: string): Buffer {
  try {
    return readFileSync(join(directory, name));
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Replaces the file at this path by an empty one that cannot be opened, below a directory that other programs
 * have filled.
 * @throws Error if a program has put a link or a file in the way
 */
export function putClosedFile(directory: string, path: string): void {
  const names = path.split('/');
  const last = names.pop() ?? '';
  let at = directory;
  for (const name of names) {
    at = `${at}/${name}`;
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) mkdirSync(at, { mode: 0o755 });
  }
  removeQuietly(`${at}/${last}`);
  writeFileSync(`${at}/${last}`, '', { flag: 'wx', mode: 0 });
}

export function setKeptTime(path: string, modifiedMs: number): void {
  utimesSync(path, modifiedMs / 1000, modifiedMs / 1000);
}
