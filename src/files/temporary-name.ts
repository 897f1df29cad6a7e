import { randomUUID } from 'node:crypto';
import { fateOf, ownTag, pidOf, TAG_DIGITS } from '../platform/process/process-tag.js';

/**
 * A temporary file next to a file: its new content, or its old content while several files are replaced.
 * Neither is shown, searched or given to tools.
 */
export type TemporaryKind = 'content' | 'backup';

/** Matches the temporary files, and the locks, which are named alike. */
export const TEMPORARY_PATTERN = '**/.toolexec-*.tmp';

/** A unique name that identifies its process. */
export function temporaryName(kind: TemporaryKind = 'content'): string {
  return `.toolexec-${MARKS[kind]}${ownTag()}${randomUUID().slice(24)}.tmp`;
}

const MARKS = { content: 'a', backup: 'b' } as const satisfies Record<TemporaryKind, string>;

export interface TemporaryFile {
  readonly kind: TemporaryKind;
  readonly maker: ReturnType<typeof fateOf>;
  readonly pid: number;
}

/** Parses such a name and checks its process; undefined for other names. */
export function readTemporaryName(name: string): TemporaryFile | undefined {
  const [, mark, tag] = NAME.exec(name) ?? [];
  if (tag === undefined) return undefined;
  return { kind: mark === MARKS.backup ? 'backup' : 'content', maker: fateOf(tag), pid: pidOf(tag) };
}

const NAME = new RegExp(`^\\.toolexec-([ab])([0-9a-f]{${TAG_DIGITS}})[0-9a-f]{12}\\.tmp$`);
