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

/** Makes a directory for this user alone, with files in it, that ends with this process. Undefined where it cannot be made. */
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

/** Takes away what processes have left that were killed. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const tag = NAME.exec(name)?.[1];
    // Another user's stay: the directory is everyone's.
    if (tag !== undefined && fateOf(tag) === 'gone') removeQuietly(join(tmpdir(), name));
  }
}

/** What a file in it holds; nothing where there is none. */
export function readKeptFile(directory: string, name: string): Buffer {
  try {
    return readFileSync(join(directory, name));
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Puts an empty file that cannot be opened in the place of any other, below a directory that programs have filled.
 * @throws Error where one of them has put a link, or a file, in the way
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
