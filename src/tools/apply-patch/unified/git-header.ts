import { unreadablePatch } from '../patch-error.js';
import { unquotePath } from './header-path.js';
import type { PatchReader } from './patch-reader.js';

/** What git says of a file before its hunks. */
export interface GitHeader {
  /** The path, where `diff --git` names one and the same twice; with its prefix. */
  readonly both: { readonly old: string; readonly fresh: string } | undefined;
  readonly isNew: boolean;
  readonly isDeleted: boolean;
  readonly renameFrom: string | undefined;
  readonly renameTo: string | undefined;
}

const IGNORED = /^(?:similarity index |dissimilarity index |index )/;
const REGULAR = '100644';

export function isExtendedHeader(line: string): boolean {
  return /^(?:old mode|new mode|copy from|copy to|Binary files|GIT binary patch)/.test(line);
}

/** @throws ToolError `patch_failed` for what is more than the content of regular files */
export function readGitHeader(reader: PatchReader): GitHeader {
  const names = (reader.next() ?? '').slice('diff --git '.length).trimEnd();
  const header = { isNew: false, isDeleted: false };
  let renameFrom: string | undefined;
  let renameTo: string | undefined;
  for (let line = reader.peek()?.trimEnd(); line !== undefined; line = reader.peek()?.trimEnd()) {
    if (line.startsWith('new file mode ')) {
      assertRegular(line, reader.at + 1);
      header.isNew = true;
    } else if (line.startsWith('deleted file mode ')) header.isDeleted = true;
    else if (line.startsWith('rename from ')) renameFrom = unquotePath(line.slice(12), reader.at + 1);
    else if (line.startsWith('rename to ')) renameTo = unquotePath(line.slice(10), reader.at + 1);
    else if (isExtendedHeader(line)) throw unreadablePatch(reader.at + 1, unsupported(line));
    else if (!IGNORED.test(line)) break;
    reader.at++;
  }
  return { ...header, both: readNames(names), renameFrom, renameTo };
}

function assertRegular(line: string, number: number): void {
  if (line.endsWith(REGULAR)) return;
  throw unreadablePatch(
    number,
    `only files of mode ${REGULAR} can be created, not "${line}". Make a file executable with a command of its own.`,
  );
}

function unsupported(line: string): string {
  if (line.startsWith('copy')) return 'copies are not supported: add the new file with its content.';
  if (line.includes('mode')) return 'changes of a file mode are not supported: change it with a command.';
  return 'binary patches are not supported.';
}

/** `a/x b/x`: where both name the same file it is known where one ends, blanks or not. */
function readNames(names: string): GitHeader['both'] {
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(names);
  if (quoted?.[1] !== undefined && quoted[2] !== undefined) {
    return { old: unquotePath(quoted[1], 0), fresh: unquotePath(quoted[2], 0) };
  }
  const half = (names.length - 1) / 2;
  const [old, fresh] = [names.slice(0, half), names.slice(half + 1)];
  const isSame = names[half] === ' ' && old.replace(/^a\//, '') === fresh.replace(/^b\//, '');
  return isSame ? { old, fresh } : undefined;
}
