import { chmodSync, mkdtempSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeQuietly } from '../fs/make-and-remove.js';
import { makeDirectories } from '../fs/make-directories.js';
import { fateOf, ownTag, TAG_DIGITS } from './process-tag.js';

/** A file that is shown to commands in the place of another one. */
export interface PlaceholderFile {
  /** In the directory of all. */
  readonly path: string;
  /** A number: so many bytes that are nothing, and take no space. */
  readonly content: string | number;
  readonly modifiedSeconds?: number;
  readonly isExecutable?: boolean;
}

/**
 * Makes a directory with files in it, in a directory of this process that ends with it, and gives its path. The same
 * `key` gives the same directory again. Undefined where they cannot be made.
 */
export function makePlaceholderFiles(
  key: string,
  files: () => readonly PlaceholderFile[],
): string | undefined {
  const known = made.get(key);
  if (known !== undefined) return known;
  const path = join(ownDirectory(), `${++count}`);
  try {
    for (const file of files()) write(path, file);
  } catch {
    removeQuietly(path);
    return undefined;
  }
  made.set(key, path);
  // What is mounted somewhere goes on without its name.
  for (const [old, place] of made) {
    if (made.size <= MOST_KEPT) break;
    made.delete(old);
    removeQuietly(place);
  }
  return path;
}

const made = new Map<string, string>();
const MOST_KEPT = 32;
let count = 0;
let own: string | undefined;

function write(directory: string, { path, content, modifiedSeconds, isExecutable }: PlaceholderFile): void {
  const file = join(directory, path);
  makeDirectories(dirname(file), 0o755);
  writeFileSync(file, typeof content === 'number' ? '' : content, { flag: 'wx' });
  if (typeof content === 'number') truncateSync(file, content);
  chmodSync(file, isExecutable === true ? 0o755 : 0o644);
  if (modifiedSeconds !== undefined) utimesSync(file, modifiedSeconds, modifiedSeconds);
}

const PREFIX = 'toolexec-placeholders-';
const NAME = new RegExp(`^${PREFIX}([0-9a-f]{${TAG_DIGITS}})-`);

function ownDirectory(): string {
  if (own !== undefined) return own;
  sweep();
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${ownTag()}-`));
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
