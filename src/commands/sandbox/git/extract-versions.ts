import { createHash } from 'node:crypto';
import { entryStat, realPath, setMode } from '../../../platform/fs/fs-entry.js';
import { removeQuietly } from '../../../platform/fs/make-and-remove.js';
import { readFileBytes } from '../../../platform/fs/read-file-bytes.js';
import { putClosedFile, setKeptTime } from '../../../platform/process/kept-directory.js';
import { askGit, type GitView } from './ask-git.js';
import type { CommittedFile } from './committed-versions.js';
import type { Tracked, Version } from './list-tracked.js';

/**
 * Writes versions as git would check them out, including line ends, encodings and filters. If a filter fails
 * or is missing, its path stays closed.
 */
export async function extractVersions(
  view: GitView,
  top: string,
  { versions, attributes }: Tracked,
): Promise<{ readonly place: string; readonly files: readonly CommittedFile[] } | undefined> {
  const named = versions.flatMap(({ path, blob }) =>
    blob === undefined ? [] : [{ path, entry: `${blob.mode} ${blob.id} 0\t${path}` }],
  );
  const lines = [...new Set([...named.map(({ entry }) => entry), ...attributes])];
  const place = await askGit(view, EXTRACT, {
    entries: lines.map((line) => `${line}\0`).join(''),
    paths: named.map(({ path }) => `${path}\0`).join(''),
  });
  if (place === undefined) return undefined;
  try {
    return { place, files: versions.map((version) => fileOf(place, top, version)) };
  } catch {
    // A filter has created something else at this path.
    removeQuietly(place);
    return undefined;
  }
}

const EXTRACT = `
export GIT_INDEX_FILE=/tmp/index
git update-index -z --index-info <"$OUT/entries" || exit 1
git checkout-index -f -q -z --stdin --prefix="$OUT/files/" <"$OUT/paths" ||
  xargs -0 -n 1 git checkout-index -f -q --prefix="$OUT/files/" -- <"$OUT/paths"
exit 0
`;

function fileOf(place: string, top: string, { path, blob }: Version): CommittedFile {
  const [at, source] = [`${top}/${path}`, `${place}/files/${path}`];
  const bytes = blob === undefined ? undefined : contentOf(source);
  if (bytes === undefined) {
    putClosedFile(place, `files/${path}`);
    return { at, source, mode: 0, size: 0 };
  }
  const host = sameOnHost(at, bytes);
  const mode = host === undefined ? (blob?.mode === '100755' ? 0o755 : 0o644) : host.mode & 0o777;
  setMode(source, mode);
  // With the same time, git neither reads the file nor rewrites its index.
  if (host !== undefined) setKeptTime(source, host.mtimeMs);
  return { at, source, mode, size: bytes.length, sha256: sha256(bytes) };
}

/** Undefined if there is not a regular file; a filter may have created anything else. */
function contentOf(source: string): Uint8Array | undefined {
  if (realPath(source) !== source) return undefined;
  return bytesOf(source);
}

const MOST_BYTES = 256 * 1024 * 1024;

function bytesOf(path: string): Uint8Array | undefined {
  try {
    return readFileBytes(path, { maxBytes: MOST_BYTES, acceptPipes: false });
  } catch {
    return undefined;
  }
}

function sameOnHost(at: string, bytes: Uint8Array): ReturnType<typeof entryStat> {
  const stat = entryStat(at);
  if (stat?.isFile() !== true || stat.size !== bytes.length) return undefined;
  const there = bytesOf(at);
  return there !== undefined && sha256(there) === sha256(bytes) ? stat : undefined;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
