import type { FileIntent, WriteAllOptions, WriteOutcome } from '../contract/files.js';
import { admit, type Containment } from './containment.js';
import { DirectoryLocks } from './directory-locks.js';
import { withFailures } from './file-failure.js';
import { removeEmpty } from './make-directories.js';
import { missingDirectories } from './make-way.js';
import type { PathRequest } from './parse-request.js';
import { assertMayChange, openChange, type StagedChange, type WriteKind } from './staged-change.js';
import { type AdmittedChange, WriteAttempt } from './write-attempt.js';
import { assertNamesFit, badWrite } from './write-contained.js';

/**
 * Changes several files or none (D067). First every place is checked, then every new content is written next
 * to its place and synced, then every file is compared with the base of its change; finally all are renamed,
 * and restored if one fails.
 * @throws DirectoryBusy if another process is at the last step in one of the directories
 */
export async function writeAllContained(
  containment: Containment,
  changes: readonly StagedChange[],
  abandonedLock: string | undefined,
  options: WholeChangeOptions,
): Promise<readonly WriteOutcome[]> {
  const admitted = changes.map((change) => ({ change, request: admitChange(containment, change) }));
  const missing = checkPlaces(containment, admitted, options.kind);
  try {
    const attempt = new WriteAttempt(containment, new DirectoryLocks(abandonedLock), options.kind);
    return await runAttempt(attempt, admitted, options);
  } catch (error) {
    removeEmpty(containment, missing);
    throw error;
  }
}

interface WholeChangeOptions extends WriteAllOptions {
  readonly check: () => void;
  readonly kind: WriteKind;
  /** Directories that the caller also creates and removes. */
  readonly directories?: Pick<FileIntent, 'made' | 'removed'>;
}

async function runAttempt(
  attempt: WriteAttempt,
  admitted: readonly AdmittedChange[],
  { check, intend, directories }: WholeChangeOptions,
): Promise<readonly WriteOutcome[]> {
  try {
    for (let from = 0; from < admitted.length; from += STAGED_A_TURN) {
      const some = admitted.slice(from, from + STAGED_A_TURN);
      await awaitAll(some.map((each) => attempt.stage(each)));
      check();
    }
    if (intend !== undefined) {
      await attempt.announce(intend, directories);
      check();
    }
    await attempt.commit();
    return attempt.outcomes();
  } catch (error) {
    attempt.discard();
    throw error;
  } finally {
    attempt.close();
  }
}

/** How many files are open and synced at once: a sync takes milliseconds. */
const STAGED_A_TURN = 8;

/** @throws the first failure, after all steps have ended */
async function awaitAll(steps: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

function admitChange(containment: Containment, { path, bytes, expectedSha256 }: StagedChange): PathRequest {
  if (bytes !== null && !(bytes instanceof Uint8Array))
    throw badWrite('the content is not bytes (Uint8Array)');
  if (typeof expectedSha256 === 'string' && !/^[0-9a-f]{64}$/.test(expectedSha256)) {
    throw badWrite('expectedSha256 is not a SHA-256 hash in lower-case hex');
  }
  const request = admit(containment, path, 'write');
  withFailures('write', path, () => assertNamesFit(request));
  return request;
}

/** Checks all places before anything is created. @returns the missing directories. */
function checkPlaces(
  containment: Containment,
  admitted: readonly AdmittedChange[],
  kind: WriteKind,
): ReadonlySet<string> {
  const places = new Map<string, StagedChange>();
  const missing = new Set<string>();
  for (const { change, request } of admitted) {
    withFailures('write', change.path, () => {
      const opened = openChange(containment, request, change, kind);
      try {
        assertMayChange(change, opened, kind);
      } finally {
        opened.place.parent.close();
      }
      const { path } = opened.place;
      if (places.has(path)) throw badWrite(`${JSON.stringify(change.path)} is changed twice`);
      places.set(path, change);
      for (const directory of missingDirectories(opened.place)) missing.add(directory);
    });
  }
  for (const directory of missing) {
    const file = places.get(directory);
    if (file !== undefined && file.bytes !== null)
      throw badWrite(`${JSON.stringify(file.path)} would be a file and a directory`);
  }
  return missing;
}
