import type { ToolContext } from '../../contract/context.js';
import type { ContainedFiles, FileChange } from '../../contract/files.js';
import type { JsonObject } from '../../contract/json.js';
import type { PreviewContext, ToolOutput } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { MAX_EDITED_BYTES, readIfThere } from '../changed-files.js';
import { assertFresh, fileRecord, filesRead, sha256Of } from '../files-read.js';
import { yieldToLoop } from '../yield-to-loop.js';
import { Draft } from './draft.js';
import { unfitPatch } from './patch-error.js';
import type { ParsedPatch, PatchStep } from './patch-step.js';
import { namedBy } from './read-patch.js';

export async function patchFiles(
  patch: ParsedPatch,
  ctx: ToolContext,
  now: (() => number) | undefined,
): Promise<ToolOutput> {
  const between = (): Promise<void> => yieldToLoop(ctx);
  const files = await openFiles(patch, ctx.files, between);
  const known = filesRead(ctx.memory);
  await known.refresh();
  // D068 requires an earlier read for LP1. The other formats contain the lines around a change, like
  // edit_file.
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

/** The changes that the patch would make now. Earlier reads are not checked. */
export async function previewPatch(
  patch: ParsedPatch,
  { files: contained, signal }: PreviewContext,
): Promise<readonly FileChange[]> {
  const between = (): Promise<void> => yieldToLoop({ signal });
  const files = await openFiles(patch, contained, between);
  await takeSteps(patch, files, between);
  return compareFiles(files.values()).flatMap(toFileChange);
}

function toFileChange({ file, now, status }: ChangedFile): FileChange[] {
  if (status === 'unchanged') return [];
  const { path, sha256: expectedSha256, movedFrom } = file;
  const change = { path, bytes: now ?? null, expectedSha256 };
  return status === 'moved' && movedFrom !== undefined ? [{ ...change, like: movedFrom.path }] : [change];
}

/** An operation may search a million lines: after this many, timers and other calls get a turn. */
const OPERATIONS_A_TURN = 16;

/**
 * Applies all steps of a patch to the files in memory.
 * @throws ToolError `patch_failed` at the first step that does not fit
 */
async function takeSteps(
  { steps }: ParsedPatch,
  files: OpenFiles,
  between: () => Promise<void>,
): Promise<void> {
  let taken = 0;
  for (const step of steps) {
    const file = files.get(step.path);
    if (file === undefined) continue;
    for (const _ of step.run(file.draft)) if (++taken % OPERATIONS_A_TURN === 0) await between();
    if (step.to !== undefined) move(step, file, files.get(step.to));
  }
}

function move(step: PatchStep, file: OpenFile, target: OpenFile | undefined): void {
  if (target === undefined || target === file) return;
  if (target.draft.exists) {
    throw unfitPatch(step, `it cannot be moved to ${step.to}: that file exists already.`);
  }
  file.draft.moveTo(target.draft);
  target.movedFrom = file.movedFrom ?? file;
}

/** A file of a patch, in memory. */
export interface OpenFile {
  /** The first spelling in the patch. */
  readonly path: string;
  readonly canonical: string;
  readonly before: Uint8Array | undefined;
  /** Hash of the original content; null if the file did not exist. */
  readonly sha256: string | null;
  readonly draft: Draft;
  /** The file that its content was moved from. */
  movedFrom: OpenFile | undefined;
}

/** Files by every spelling in the patch: two spellings of one file share an entry. */
type OpenFiles = ReadonlyMap<string, OpenFile>;

/**
 * Reads all files of a patch, in the order in which they are named.
 * @throws ToolError `patch_failed` if a link would be deleted or moved, `limit_exceeded` if they are too
 * large
 */
async function openFiles(
  { steps }: ParsedPatch,
  files: ContainedFiles,
  between: () => Promise<void>,
): Promise<OpenFiles> {
  const bySpelling = new Map<string, OpenFile>();
  const byCanonical = new Map<string, OpenFile>();
  let total = 0;
  for (const step of steps) {
    if (step.effect !== 'write') await assertNoLink(step, files);
    for (const path of namedBy(step)) {
      if (bySpelling.has(path)) continue;
      const canonical = files.resolve?.(path) ?? path;
      const file = byCanonical.get(canonical) ?? (await open(path, canonical, files));
      if (!byCanonical.has(canonical)) total += file.before?.length ?? 0;
      if (total > MAX_EDITED_BYTES) throw tooLarge();
      byCanonical.set(canonical, file);
      bySpelling.set(path, file);
      await between();
    }
  }
  return bySpelling;
}

async function open(path: string, canonical: string, files: ContainedFiles): Promise<OpenFile> {
  const before = await readIfThere(path, files);
  const sha256 = before === undefined ? null : sha256Of(before);
  return { path, canonical, before, sha256, draft: new Draft(before), movedFrom: undefined };
}

// The link would be removed, while the file behind it was read.
async function assertNoLink({ path, line, effect }: PatchStep, files: ContainedFiles): Promise<void> {
  let type: string;
  try {
    ({ type } = await files.stat(path));
  } catch {
    // A missing file is reported when its step runs.
    return;
  }
  if (type !== 'symlink') return;
  throw new ToolError(
    'patch_failed',
    `Cannot ${effect} ${path} (line ${line} of the patch): it is a symbolic link. Name the file itself.`,
    { details: { path, patch_line: line } },
  );
}

function tooLarge(): ToolError {
  return new ToolError(
    'limit_exceeded',
    `The files of the patch are too large together: at most ${MAX_EDITED_BYTES} bytes can be changed at once.`,
  );
}

interface ChangedFile {
  readonly file: OpenFile;
  /** Undefined if the file does not exist. */
  readonly now: Uint8Array | undefined;
  readonly status: 'created' | 'modified' | 'deleted' | 'moved' | 'unchanged';
  /** Hash of the new content; null if the file does not exist. */
  readonly sha256: string | null;
}

/** The final state of the files, in patch order, without files that never existed. */
function compareFiles(files: Iterable<OpenFile>): ChangedFile[] {
  return [...new Set(files)].flatMap((file) => {
    const now = file.draft.bytes();
    if (now === undefined && file.before === undefined) return [];
    const sha256 = now === undefined ? null : now === file.before ? file.sha256 : sha256Of(now);
    return [{ file, now, status: sha256 === file.sha256 ? 'unchanged' : statusOf(file), sha256 }];
  });
}

function statusOf({ before, draft, movedFrom }: OpenFile): ChangedFile['status'] {
  if (!draft.exists) return 'deleted';
  if (before !== undefined) return 'modified';
  return movedFrom?.before !== undefined && !movedFrom.draft.exists ? 'moved' : 'created';
}

/** One line per file (D066): `modified: path`, `created: path`, `deleted: path`, `moved: from -> to`. */
function reportChanges(changes: readonly ChangedFile[]): string {
  const moved = new Set(changes.flatMap(({ file, status }) => (status === 'moved' ? [file.movedFrom] : [])));
  const lines = changes
    .filter(({ file, status }) => status !== 'unchanged' && !(status === 'deleted' && moved.has(file)))
    .map(({ file, status }) =>
      status === 'moved' ? `moved: ${file.movedFrom?.path} -> ${file.path}` : `${status}: ${file.path}`,
    );
  return lines.length === 0 ? 'No changes applied.' : lines.join('\n');
}

function describeChanges(changes: readonly ChangedFile[]): JsonObject[] {
  return changes.map(({ file, status, sha256 }) => ({
    ...{ path: file.path, status, sha256_before: file.sha256, sha256_after: sha256 },
    ...(status === 'moved' ? { moved_from: file.movedFrom?.path ?? '' } : {}),
  }));
}
