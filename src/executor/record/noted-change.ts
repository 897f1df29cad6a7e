import type {
  DirectoryMode,
  ExaminedEntry,
  FileIntent,
  FileOwner,
  IntendedChange,
} from '../../contract/files.js';
import type { CallKey, Journal } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { leavesOut } from '../../journal/redaction/redacting-journal.js';

/** A change to one file, as the journal notes it before the change is made. */
export interface NotedChange extends Omit<IntendedChange, 'content'> {
  /** The journal keeps the old content under the hash `before`. */
  readonly preimage?: string;
}

export interface NotedIntent {
  readonly op: string;
  readonly changes: readonly NotedChange[];
  /** Directories created for the change; outermost first. */
  readonly made: readonly string[];
  /** Empty directories that the change removes. */
  readonly removed: readonly DirectoryMode[];
}

/** @param isKept whether the journal keeps the old content, if known */
export function toNotedChange(
  { content, beforeOwner, ...change }: IntendedChange,
  isKept = content !== undefined,
): JsonObject {
  return {
    ...change,
    ...(beforeOwner === undefined ? {} : { beforeOwner: { ...beforeOwner } }),
    ...(isKept && change.before !== null ? { preimage: change.before } : {}),
  };
}

/** Reads an intent from a note; undefined if the note is not a valid intent. */
export function readIntent(data: JsonObject): NotedIntent | undefined {
  const { op, changes, made, removed } = data;
  if (typeof op !== 'string' || !Array.isArray(changes)) return undefined;
  const noted = changes.flatMap((change) => readChange(change) ?? []);
  if (noted.length !== changes.length) return undefined;
  return { op, changes: noted, made: textsOf(made), removed: directoriesOf(removed) };
}

/** The texts of a list; empty if the value is not a list. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** The directories of a list; empty if the value is not a list. */
export function directoriesOf(value: JsonValue | undefined): readonly DirectoryMode[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const { path, mode } = objectOf(each);
    return typeof path === 'string' && typeof mode === 'number' ? [{ path, mode }] : [];
  });
}

/**
 * The state of a path, as the notes name it: a file by its hash, a missing file as null. Different states
 * never have the same name.
 */
export type NotedState = string | null;

export function stateOf(entry: ExaminedEntry): NotedState {
  if (entry.kind === 'none') return null;
  if (entry.kind === 'file') return entry.sha256;
  return entry.kind === 'link' ? `link ${entry.sha256}` : entry.kind;
}

export function stateBefore({ before, beforeKind }: NotedChange): NotedState {
  if (beforeKind === undefined || before === null) return before;
  return beforeKind === 'link' ? `link ${before}` : beforeKind;
}

/** @param changes all changes of the intent, to recognise a link that is moved and stays a link. */
export function stateAfter({ after, movedFrom }: NotedChange, changes: readonly NotedChange[]): NotedState {
  const source = movedFrom === undefined ? undefined : changes.find(({ path }) => path === movedFrom);
  return source?.beforeKind === undefined ? after : stateBefore(source);
}

function readChange(value: JsonValue): NotedChange | undefined {
  const { path, before, after, beforeMode, afterMode, beforeKind, beforeOwner, movedFrom, preimage } =
    objectOf(value);
  if (typeof path !== 'string' || !isHash(before) || !isHash(after)) return undefined;
  const owner = ownerOf(beforeOwner);
  return {
    path,
    before,
    after,
    ...(typeof beforeMode === 'number' ? { beforeMode } : {}),
    ...(typeof afterMode === 'number' ? { afterMode } : {}),
    ...(beforeKind === 'link' || beforeKind === 'other' ? { beforeKind } : {}),
    ...(owner === undefined ? {} : { beforeOwner: owner }),
    ...(typeof movedFrom === 'string' ? { movedFrom } : {}),
    ...(typeof preimage === 'string' ? { preimage } : {}),
  };
}

function ownerOf(value: JsonValue | undefined): FileOwner | undefined {
  const { uid, gid } = objectOf(value);
  return typeof uid === 'number' && typeof gid === 'number' ? { uid, gid } : undefined;
}

function isHash(value: JsonValue | undefined): value is string | null {
  return value === null || typeof value === 'string';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Resolves when the journal holds the note of a call's changes, and the current content of each file that the
 * call will replace.
 */
export async function noteIntent(
  journal: Journal,
  key: CallKey,
  { op, changes, made, removed }: FileIntent,
  at: number,
): Promise<void> {
  // All writes are requested in one turn, so they share a commit. If a call's arguments are left out of the
  // journal, contents are left out too: an earlier such call may have written them.
  const isKept = ({ content }: IntendedChange): boolean => content !== undefined && !leavesOut(journal, key);
  const kept = changes.filter(isKept).map(({ content }) => content && journal.keep(content));
  const data = {
    op,
    changes: changes.map((change) => toNotedChange(change, isKept(change))),
    ...(made === undefined ? {} : { made: [...made] }),
    ...(removed === undefined ? {} : { removed: removed.map((directory) => ({ ...directory })) }),
  };
  const note = journal.note(key, { kind: 'intent', data, at });
  await Promise.all([...kept, note]);
}
