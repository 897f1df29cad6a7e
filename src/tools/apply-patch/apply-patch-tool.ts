import type { ToolContext } from '../../contract/context.js';
import type { Effect } from '../../contract/effect.js';
import type { FileChange } from '../../contract/files.js';
import type { DeclaredLimits, ToolOutput, ToolSpec } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { fileRecord, filesRead } from '../files-read.js';
import { probeFiles } from '../probe-files.js';
import { assertNotRedacted } from '../redacted-text.js';
import { assertFresh } from '../stale-file.js';
import { TOOL_NAMES } from '../tool-names.js';
import { yieldToLoop } from '../yield-to-loop.js';
import { namedBy, openFiles } from './open-files.js';
import type { ParsedPatch } from './patch-step.js';
import { readPatch } from './read-patch.js';
import { type ChangedFile, compareFiles, describeChanges, reportChanges } from './report-changes.js';
import { takeSteps } from './take-steps.js';

export interface ApplyPatchArgs {
  readonly patch: string;
}

export interface ApplyPatchOptions {
  /** Bytes of a patch (FR-LIM-04). Default: what the executor's limits say, else 524288. */
  readonly maxPatchBytes?: number;
  /** Milliseconds since the epoch: when a change is recorded. Left out: records carry no time. */
  readonly now?: () => number;
}

const DEFAULT_MAX_PATCH_BYTES = 512 * 1024;
/** Each is held open until all are written. */
const MAX_FILES = 1000;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['patch'],
  properties: {
    patch: {
      type: 'string',
      description:
        'LP1: the line LP1, then for each file "F <path>" and operations, then the line END. Operations: "R" (replace), ' +
        '"I" (insert after), "P" (insert before), each with two blocks: the lines to find, the new lines; "E" (erase) ' +
        'with the lines to find; "T" (append) and "B" (prepend) with the new lines; "N +" or "N -" (final newline). A ' +
        'block ends with a line that is a single dot; a content line that begins with a dot gets one more dot. ' +
        '"R 2" takes the second match. "*** Begin Patch" patches and unified diffs are accepted as well.',
    },
  },
} as const;

/**
 * `apply_patch` (FR-TOOL-PATCH-01 and 02, D066–D072, D136): LP1, `*** Begin Patch` and unified diffs, all of it or
 * nothing. Existing files must have been read in this conversation, and not have changed since.
 */
export function applyPatchTool(options: ApplyPatchOptions = {}): ToolSpec<ApplyPatchArgs> {
  const { now } = options;
  const maxOf = (limits: DeclaredLimits | undefined): number =>
    options.maxPatchBytes ?? limits?.maxApplyPatchBytes ?? DEFAULT_MAX_PATCH_BYTES;
  const read = createPatchReader();
  return {
    name: 'apply_patch',
    aliases: TOOL_NAMES.apply_patch,
    description:
      'Changes one or several files by a patch: all of it is applied, or nothing. Existing files must have been read ' +
      'with read_file before, and are matched exactly, never by likeness.',
    input: INPUT,
    category: 'file',
    // A byte takes at most six in JSON (`\u0001`).
    maxArgsBytes: (limits) => 6 * maxOf(limits) + 1024,
    effects: (args, { limits }) => {
      assertSize(args.patch, maxOf(limits));
      return effectsOf(read(args));
    },
    // FR-TOOL-PATCH-01: what takes a file away is approved by a person.
    requiresApproval: (args) => read(args).steps.some(({ effect }) => effect !== 'write'),
    summarize: (args) => {
      const paths = pathsOf(read(args));
      return `Apply patch to ${paths.length} file${paths.length === 1 ? '' : 's'}: ${paths.slice(0, 20).join(', ')}`;
    },
    execute: (args, ctx) => applyPatch(read(args), ctx, now),
    probe: probeFiles,
  };
}

function assertSize(text: string, max: number): void {
  const size = Buffer.byteLength(text, 'utf8');
  if (size <= max) return;
  throw new ToolError('limit_exceeded', `patch too large: ${size} bytes (max: ${max} bytes)`);
}

/** Reads each call's patch once: planning asks for it several times. */
function createPatchReader(): (args: ApplyPatchArgs) => ParsedPatch {
  const known = new WeakMap<ApplyPatchArgs, ParsedPatch>();
  return (args) => {
    let patch = known.get(args);
    if (patch === undefined) {
      patch = readChecked(args.patch);
      known.set(args, patch);
    }
    return patch;
  };
}

function readChecked(text: string): ParsedPatch {
  const patch = readPatch(text);
  const { length } = pathsOf(patch);
  if (length > MAX_FILES) {
    throw new ToolError('limit_exceeded', `patch too large: ${length} files (max: ${MAX_FILES} files)`);
  }
  for (const { path, added } of patch.steps) assertNotRedacted(path, added);
  return patch;
}

function pathsOf({ steps }: ParsedPatch): string[] {
  return [...new Set(steps.flatMap(namedBy))];
}

function effectsOf({ steps }: ParsedPatch): Effect[] {
  const effects = new Map<string, Effect>();
  const declare = (kind: 'read' | 'write' | 'delete', path: string): void => {
    effects.set(`${kind} ${path}`, { kind, path });
  };
  for (const { effect, path, to } of steps) {
    if (effect === 'write') declare('write', path);
    else {
      // Read as well: where it is a link, what it leads to is looked at before it is refused.
      declare('read', path);
      declare('delete', path);
    }
    if (to !== undefined) declare('write', to);
  }
  return [...effects.values()];
}

async function applyPatch(
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
