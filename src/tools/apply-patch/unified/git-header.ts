import { unreadablePatch } from '../patch-error.js';

/** Git's lines about a file before its hunks. */
export interface GitHeader {
  /** The path with its prefix, if `diff --git` names the same one twice. */
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

/** @throws ToolError `patch_failed` for changes to anything but the content of regular files */
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

/** `a/x b/x`: if both names are equal, their border is known, even with blanks. */
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

/** The name that represents no file. */
export const NO_FILE = '/dev/null';

/** The path of a `---` or `+++` line: up to a tab (a time may follow), or quoted like git. */
export function headerPath(line: string, number: number): string {
  return unquotePath(line.slice(4).replace(/\r$/, ''), number);
}

/** A path in git's form: quoted with C escapes if it contains unusual characters. */
function unquotePath(text: string, line: number): string {
  const path = text.startsWith('"') ? unquote(text, line) : (text.split('\t', 1)[0] ?? '').trimEnd();
  if (path === '') throw unreadablePatch(line, 'Missing file path.');
  return path;
}

function unquote(text: string, line: number): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (quoted === undefined) throw unreadablePatch(line, 'Unterminated quoted path.');
  const bytes = quoted.replace(/[^\x00-\x7f]/gu, toLatin1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    const meant = ESCAPES[code];
    if (meant === undefined) throw unreadablePatch(line, `unknown escape \\${code} in a quoted path.`);
    return meant;
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Octal escapes are bytes, so the rest is converted to bytes too. */
function toLatin1(char: string): string {
  return Buffer.from(char, 'utf8').toString('latin1');
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};

/** Reads the lines of a patch one after the other. */
export class PatchReader {
  /** Index of the next line, which equals the number of the last one. */
  at = 0;

  constructor(readonly lines: readonly string[]) {}

  peek(ahead = 0): string | undefined {
    return this.lines[this.at + ahead];
  }

  next(): string | undefined {
    return this.lines[this.at++];
  }
}
