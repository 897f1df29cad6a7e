import { sep } from 'node:path';
import type { SkippedFile } from '../../contract/executor.js';
import type { ContainedFiles, FileChange } from '../../contract/files.js';
import type { Journal } from '../../contract/journal.js';
import { hashOfFile } from '../recover/inspect-change.js';
import type { NotedChange, NotedIntent } from '../recover/noted-change.js';

export interface UndoPlan {
  /** All of them, or none. */
  readonly changes: readonly FileChange[];
  readonly skipped: readonly SkippedFile[];
  /** Directories that the call made, and that hold a file which goes: they go too, if nothing else is in them. */
  readonly tidy: readonly string[];
}

/**
 * What has to be done so that every file is as it was before a call's first change. A change that was noted and never
 * made is passed over: the file never was what it would have made of it.
 * @param files that take canonical paths
 */
export async function planUndo(
  intents: readonly NotedIntent[],
  files: ContainedFiles,
  journal: Journal,
): Promise<UndoPlan> {
  const byPath = new Map<string, Step[]>();
  for (const { op, changes } of intents) {
    for (const change of changes) {
      const noted = byPath.get(change.path);
      if (noted === undefined) byPath.set(change.path, [{ ...change, op }]);
      else noted.push({ ...change, op });
    }
  }
  const changes: FileChange[] = [];
  const skipped: SkippedFile[] = [];
  for (const [path, noted] of byPath) {
    const step = await planFile(path, noted, files, journal);
    if (typeof step === 'string') skipped.push({ path, reason: step });
    else changes.push(step);
  }
  const gone = changes.flatMap(({ path, bytes }) => (bytes === null ? [path] : []));
  const made = new Set(intents.flatMap((intent) => intent.made));
  const tidy = [...made].filter((directory) => gone.some((path) => path.startsWith(`${directory}${sep}`)));
  return { changes, skipped, tidy };
}

/** A change with the operation that it was noted for. */
type Step = NotedChange & Pick<NotedIntent, 'op'>;

/** A text: why the file stays as it is. */
async function planFile(
  path: string,
  noted: readonly Step[],
  files: ContainedFiles,
  journal: Journal,
): Promise<FileChange | string> {
  let now: string | null | undefined;
  try {
    now = await hashOfFile(path, files);
  } catch {
    return 'it cannot be read';
  }
  const first = traceBack(now, noted);
  if (first === undefined) {
    return noted.some(({ before }) => before === now) ? 'it is as it was before' : 'it was changed since';
  }
  const { before, beforeMode, beforeKind, preimage } = first;
  if (before === now) return 'it is as it was before';
  if (beforeKind !== undefined) return 'it was no regular file';
  const bytes = before === null ? null : await journal.kept(preimage ?? '');
  if (bytes === undefined) return 'its old content was not kept';
  const mode = beforeMode === undefined || hasKeptMode(noted) ? {} : { mode: beforeMode };
  return { path, bytes, expectedSha256: now ?? null, ...mode };
}

/** Who writes a file leaves its mode: where that is another by now, somebody has set it since. */
function hasKeptMode(noted: readonly Step[]): boolean {
  return noted.every(
    ({ op, after, afterMode }) => op !== 'rename' && after !== null && afterMode === undefined,
  );
}

/** From what the file is now, change by change back to the first that led there; undefined where none did. */
function traceBack(now: string | null | undefined, noted: readonly Step[]): Step | undefined {
  let state = now;
  let first: Step | undefined;
  for (const change of noted.toReversed()) {
    if (change.after !== state) continue;
    state = change.before;
    first = change;
  }
  return first;
}
