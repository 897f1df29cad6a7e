import type { Draft } from '../draft.js';
import { unfitPatch, unreadablePatch } from '../patch-error.js';
import { type PatchStep, patchLines } from '../patch-step.js';
import { applyHunks, type Hunk } from './apply-hunks.js';
import {
  type GitHeader,
  headerPath,
  isExtendedHeader,
  NO_FILE,
  PatchReader,
  readGitHeader,
} from './git-header.js';

/**
 * Parses unified diffs, plain or from git, with new, deleted and renamed files. Text before the first file is
 * skipped. Between files nothing is skipped, because it might be part of a hunk.
 * @throws ToolError `patch_failed` with the line
 */
export function parseUnified(text: string): PatchStep[] {
  const reader = new PatchReader(patchLines(text));
  const steps: PatchStep[] = [];
  for (let isBetween = true; reader.peek() !== undefined; ) {
    if (beginsFile(reader)) {
      steps.push(readFile(reader));
      isBetween = false;
    } else {
      const line = reader.next() ?? '';
      if (isSignature(line)) isBetween = true;
      else if (isHunkHeader(line) || (!isBetween && !isFiller(line)))
        throw unreadablePatch(reader.at, strayLine(line));
    }
  }
  if (steps.length === 0) {
    throw unreadablePatch(1, 'no file in it: a file begins with "diff --git" or with "---" and "+++" lines.');
  }
  return steps;
}

function beginsFile(reader: PatchReader): boolean {
  const line = reader.peek() ?? '';
  return (
    line.startsWith('diff --git ') || (line.startsWith('--- ') && reader.peek(1)?.startsWith('+++ ') === true)
  );
}

/** The end of a mail from git; text may follow. */
function isSignature(line: string): boolean {
  return line === '-- ' || line === '--' || line === '-- \r';
}

function isFiller(line: string): boolean {
  return line.trim() === '' || /^(?:Index: |diff |={10,}|Only in )/.test(line);
}

function strayLine(line: string): string {
  const shown = JSON.stringify(line.slice(0, 80));
  if (isHunkHeader(line)) return `a hunk without a file: ${shown}.`;
  const isHunkLine = /^[ +-]/.test(line);
  return isHunkLine
    ? `${shown} is beyond the lines that the hunk's header announces. Correct the numbers in the @@ line.`
    : `${shown} belongs to no file.`;
}

function readFile(reader: PatchReader): PatchStep {
  const line = reader.at + 1;
  const isGit = reader.peek()?.startsWith('diff --git ') === true;
  const git = isGit ? readGitHeader(reader) : undefined;
  const [old, fresh] = beginsPaths(reader)
    ? [headerPath(reader.next() ?? '', reader.at), headerPath(reader.next() ?? '', reader.at)]
    : [undefined, undefined];
  const hunks = [];
  while (isHunkHeader(reader.peek() ?? '')) hunks.push(readHunk(reader));
  const next = reader.peek();
  if (isGit && next !== undefined && isExtendedHeader(next)) {
    throw unreadablePatch(reader.at + 1, `${JSON.stringify(next.slice(0, 80))} is not supported.`);
  }
  return fileStep({ line, git, old, fresh, hunks });
}

function beginsPaths(reader: PatchReader): boolean {
  return reader.peek()?.startsWith('--- ') === true && reader.peek(1)?.startsWith('+++ ') === true;
}

interface FileDiff {
  readonly line: number;
  readonly git: GitHeader | undefined;
  /** As in the `---` and `+++` lines. */
  readonly old: string | undefined;
  readonly fresh: string | undefined;
  readonly hunks: readonly Hunk[];
}

/** @throws ToolError `patch_failed` if the file or the kind of change is not clear */
function fileStep(diff: FileDiff): PatchStep {
  const { line, git, hunks } = diff;
  const { old, fresh } = pathsOf(diff);
  const added = hunks.flatMap((hunk) => hunk.added);
  if (old === NO_FILE)
    return { line, path: fresh, effect: 'write', added, run: (draft) => create(diff, fresh, draft) };
  if (fresh === NO_FILE)
    return { line, path: old, effect: 'delete', added, run: (draft) => remove(diff, old, draft) };
  const run: PatchStep['run'] = (draft) => modify(diff, old, draft);
  if (old === fresh) {
    if (hunks.length === 0)
      throw unreadablePatch(line, `the patch says nothing about ${old}: no hunk follows.`);
    return { line, path: old, effect: 'write', added, run };
  }
  if (git?.renameFrom !== undefined) return { line, path: old, effect: 'move', to: fresh, added, run };
  throw unreadablePatch(
    line,
    `the old file is ${old}, the new one ${fresh}. Name the same file twice, or rename it with git's "rename from" and "rename to".`,
  );
}

function* create({ line, hunks }: FileDiff, path: string, draft: Draft): Generator<void, void> {
  if (draft.exists) throw unfitPatch({ path, line }, 'the file exists already, and the patch creates it.');
  draft.become(new Uint8Array(0));
  yield* applyHunks({ path, line }, hunks, draft);
}

function* remove(diff: FileDiff, path: string, draft: Draft): Generator<void, void> {
  yield* modify(diff, path, draft);
  if (draft.text().lines.length > 0) {
    const place = { path, line: diff.line };
    throw unfitPatch(place, 'the patch deletes the file, and its hunks leave some of its content.');
  }
  draft.remove();
}

function* modify({ line, hunks }: FileDiff, path: string, draft: Draft): Generator<void, void> {
  if (!draft.exists) throw unfitPatch({ path, line }, 'the file does not exist.');
  yield* applyHunks({ path, line }, hunks, draft);
}

function pathsOf({ line, git, old, fresh }: FileDiff): { readonly old: string; readonly fresh: string } {
  if (git?.renameFrom !== undefined && git.renameTo !== undefined) {
    return { old: git.renameFrom, fresh: git.renameTo };
  }
  const named = old !== undefined && fresh !== undefined ? { old, fresh } : git?.both;
  if (named === undefined)
    throw unreadablePatch(line, 'the file is not named: "---" and "+++" lines are missing.');
  const stripped = stripPrefixes(named);
  const paths = {
    old: git?.isNew === true ? NO_FILE : stripped.old,
    fresh: git?.isDeleted === true ? NO_FILE : stripped.fresh,
  };
  if (paths.old === NO_FILE && paths.fresh === NO_FILE)
    throw unreadablePatch(line, 'neither an old nor a new file.');
  return paths;
}

/** `a/` and `b/`, if git or diff added both. */
function stripPrefixes({ old, fresh }: { old: string; fresh: string }): { old: string; fresh: string } {
  const isPrefixed =
    (old === NO_FILE || old.startsWith('a/')) && (fresh === NO_FILE || fresh.startsWith('b/'));
  if (!isPrefixed) return { old, fresh };
  return {
    old: old === NO_FILE ? old : old.slice(2),
    fresh: fresh === NO_FILE ? fresh : fresh.slice(2),
  };
}

const HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

function isHunkHeader(line: string): boolean {
  return line.startsWith('@@');
}

/** @throws ToolError `patch_failed` if the number of lines differs from the header */
function readHunk(reader: PatchReader): Hunk {
  const header = reader.next() ?? '';
  const line = reader.at;
  const [, oldStart, oldCount = '1', , freshCount = '1'] = HEADER.exec(header) ?? [];
  if (oldStart === undefined) {
    throw unreadablePatch(
      line,
      `${JSON.stringify(header.slice(0, 80))} is not a hunk header: "@@ -12,3 +12,4 @@".`,
    );
  }
  const sides: Sides = { old: [], fresh: [], added: [], oldUnended: false, freshUnended: false };
  const wanted = { old: Number(oldCount), fresh: Number(freshCount) };
  while (sides.old.length < wanted.old || sides.fresh.length < wanted.fresh) {
    const isTaken = takeLine(reader, sides);
    if (isTaken && sides.old.length <= wanted.old && sides.fresh.length <= wanted.fresh) continue;
    throw unreadablePatch(
      line,
      `the header announces ${wanted.old} old and ${wanted.fresh} new lines, and the hunk has ` +
        `${isTaken ? 'more of one kind' : `${sides.old.length} and ${sides.fresh.length}`}. ` +
        'Context counts as both. Correct the numbers, or the lines.',
    );
  }
  if (reader.peek()?.startsWith('\\') === true) takeLine(reader, sides);
  return { line, oldStart: Number(oldStart), ...sides };
}

interface Sides {
  readonly old: string[];
  readonly fresh: string[];
  readonly added: string[];
  oldUnended: boolean;
  freshUnended: boolean;
}

/** False for a line that does not belong to a hunk. */
function takeLine(reader: PatchReader, sides: Sides): boolean {
  const line = reader.peek();
  if (line === undefined) return false;
  // Editors remove the blank of an empty context line.
  const mark = line === '' || line === '\r' ? ' ' : line[0];
  const text = line === '' || line === '\r' ? line : line.slice(1);
  switch (mark) {
    case ' ':
      sides.old.push(text);
      sides.fresh.push(text);
      break;
    case '-':
      sides.old.push(text);
      break;
    case '+':
      sides.fresh.push(text);
      sides.added.push(text);
      break;
    case '\\':
      markUnended(reader, sides);
      break;
    default:
      return false;
  }
  reader.at++;
  return true;
}

/** `\ No newline at end of file` refers to the line above it. */
function markUnended(reader: PatchReader, sides: Sides): void {
  const above = reader.lines[reader.at - 1]?.[0];
  if (above !== '+') sides.oldUnended = true;
  if (above !== '-') sides.freshUnended = true;
}
