import type { IntendedChange } from '../../contract/files.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';

/** A change to one file as the journal notes it, before it is made. */
export interface NotedChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly beforeMode?: number;
  readonly afterMode?: number;
  readonly beforeKind?: 'link' | 'other';
  /** What was there is kept in the journal, under `before`. */
  readonly preimage?: string;
}

export interface NotedIntent {
  readonly op: string;
  readonly changes: readonly NotedChange[];
  /** Directories that were made for it; outermost first. */
  readonly made: readonly string[];
}

export function toNotedChange({ content, ...change }: IntendedChange): JsonObject & NotedChange {
  return content === undefined || change.before === null ? change : { ...change, preimage: change.before };
}

/** What a note says; undefined where it is no intent of ours. */
export function readIntent(data: JsonObject): NotedIntent | undefined {
  const { op, changes, made } = data;
  if (typeof op !== 'string' || !Array.isArray(changes) || !changes.every(isNotedChange)) return undefined;
  return { op, changes, made: textsOf(made) };
}

/** The texts of a list; none where it is no list. */
export function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function isNotedChange(value: unknown): value is NotedChange {
  if (typeof value !== 'object' || value === null) return false;
  const { path, before, after } = value as Partial<Record<keyof NotedChange, unknown>>;
  const isHash = (hash: unknown): boolean => hash === null || typeof hash === 'string';
  return typeof path === 'string' && isHash(before) && isHash(after);
}
