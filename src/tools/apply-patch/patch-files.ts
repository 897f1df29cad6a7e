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
  for (const { path, canonical, sha256 } of new Set(files.values())) {
    if (sha256 === null) continue;
    assertFresh({ path, canonical, sha256 }, ctx.memory, { action: 'patch', mustBeRead: true });
  }
  await takeSteps(patch, files, between);
  const changes = compareFiles(files.values());
  await ctx.files.writeAll(changes.flatMap(toFileChange));
  const known = filesRead(ctx.memory);
  for (const { file, sha256 } of changes) {
    if (sha256 === null) known.delete(file.canonical);
    else known.set(file.canonical, fileRecord(sha256, now));
  }
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
