import type { DeclaredLimits, ToolSpec } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { probeFiles } from '../changed-files.js';
import { patchFiles, previewPatch } from './patch-files.js';
import { type CheckedPatch, checkPatch } from './read-patch.js';

export interface ApplyPatchArgs {
  readonly patch: string;
}

export interface ApplyPatchOptions {
  /** Maximum size of a patch in bytes (D018). Default: the executor's limit, otherwise 524288. */
  readonly maxPatchBytes?: number;
  /** Milliseconds since the epoch, to date recorded changes. If absent: records have no time. */
  readonly now?: () => number;
}

const DEFAULT_MAX_PATCH_BYTES = 512 * 1024;

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
 * `apply_patch` (D066–D072, D136): LP1, `*** Begin Patch` and unified diffs, applied completely or not at
 * all. No file may have changed since this conversation read it; LP1 requires an earlier read.
 */
export function applyPatchTool(options: ApplyPatchOptions = {}): ToolSpec<ApplyPatchArgs> {
  const { now } = options;
  const maxOf = (limits: DeclaredLimits | undefined): number =>
    options.maxPatchBytes ?? limits?.maxApplyPatchBytes ?? DEFAULT_MAX_PATCH_BYTES;
  const checked = createPatchReader();
  return {
    name: 'apply_patch',
    title: 'Apply Patch',
    description:
      'Changes one or several files by a patch: all of it is applied, or nothing. Lines are matched exactly, never by ' +
      'likeness. Before an LP1 patch, existing files must have been read with read_file; other formats need no read.',
    input: INPUT,
    category: 'file',
    contained: true,
    // A byte takes at most six in JSON (`\u0001`).
    maxArgsBytes: (limits) => 6 * maxOf(limits) + 1024,
    touches: ['read', 'write', 'delete'],
    effects: (args, { limits }) => {
      assertSize(args.patch, maxOf(limits));
      return checked(args).effects;
    },
    // D066: removing a file needs a person's approval.
    requiresApproval: (args) => checked(args).takesAway,
    summarize: (args) => {
      const { paths } = checked(args);
      return `Apply patch to ${paths.length} file${paths.length === 1 ? '' : 's'}: ${paths.slice(0, 20).join(', ')}`;
    },
    execute: async (args, ctx) => patchFiles(checked(args).patch, ctx, now),
    previewChanges: async (args, ctx) => previewPatch(checked(args).patch, ctx),
    probe: probeFiles,
  };
}

function assertSize(text: string, max: number): void {
  const size = Buffer.byteLength(text, 'utf8');
  if (size <= max) return;
  throw new ToolError('limit_exceeded', `patch too large: ${size} bytes (max: ${max} bytes)`);
}

/** Parses each call's patch once, because planning asks for it several times. */
function createPatchReader(): (args: ApplyPatchArgs) => CheckedPatch {
  const patches = new WeakMap<ApplyPatchArgs, CheckedPatch>();
  return (args) => {
    const patch = patches.get(args) ?? checkPatch(args.patch);
    patches.set(args, patch);
    return patch;
  };
}
