import type { ToolContext } from '../../contract/context.js';
import type { FileChange } from '../../contract/files.js';
import type { ToolOutput } from '../../contract/tool.js';
import { fileRecord, filesRead } from '../files-read.js';
import { assertFresh } from '../stale-file.js';
import { yieldToLoop } from '../yield-to-loop.js';
import { openFiles } from './open-files.js';
import type { ParsedPatch } from './patch-step.js';
import { type ChangedFile, compareFiles, describeChanges, reportChanges } from './report-changes.js';
import { takeSteps } from './take-steps.js';

export async function patchFiles(
  patch: ParsedPatch,
  ctx: ToolContext,
  now: (() => number) | undefined,
): Promise<ToolOutput> {
  const between = (): Promise<void> => yieldToLoop(ctx);
  const files = await openFiles(patch, ctx.files, between);
  const known = filesRead(ctx.memory);
  await known.refresh();
  // D068 asks for the read of LP1. The other formats carry the lines around a change, as edit_file does.
  const mustBeRead = patch.format === 'lp1';
  for (const { path, canonical, sha256 } of new Set(files.values())) {
    if (sha256 === null) continue;
    assertFresh({ path, canonical, sha256 }, known, { action: 'patch', mustBeRead });
  }
  await takeSteps(patch, files, between);
  const changes = compareFiles(files.values());
  await ctx.files.writeAll(changes.flatMap(toFileChange));
  for (const { file, sha256 } of changes) known.set(file.canonical, fileRecord(sha256, now));
  return {
    text: reportChanges(changes),
    metadata: { format: patch.format, files: describeChanges(changes) },
  };
}

function toFileChange({ file, now, status }: ChangedFile): FileChange[] {
  if (status === 'unchanged') return [];
  const { path, sha256: expectedSha256, movedFrom } = file;
  const change = { path, bytes: now ?? null, expectedSha256 };
  return status === 'moved' && movedFrom !== undefined ? [{ ...change, like: movedFrom.path }] : [change];
}
