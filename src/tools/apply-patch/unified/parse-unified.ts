import { unreadablePatch } from '../patch-error.js';
import { patchLines } from '../patch-lines.js';
import type { PatchStep } from '../patch-step.js';
import { fileStep } from './file-step.js';
import { isExtendedHeader, readGitHeader } from './git-header.js';
import { headerPath } from './header-path.js';
import { PatchReader } from './patch-reader.js';
import { isHunkHeader, readHunk } from './read-hunk.js';

/**
 * Reads unified diffs: plain ones and those of git, with new, deleted and renamed files. What stands before the first
 * file is skipped; between files nothing is, because it might be a part of a hunk.
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

/** The end of a mail that git has written; text may follow. */
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
