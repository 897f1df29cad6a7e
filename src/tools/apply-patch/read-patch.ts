import type { Effect } from '../../contract/effect.js';
import { ToolError } from '../../errors/tool-error.js';
import { assertNotRedacted } from '../changed-files.js';
import { parseBeginPatch } from './begin-patch/parse-begin-patch.js';
import { lp1Steps } from './lp1/apply-patch.js';
import { unreadablePatch } from './patch-error.js';
import type { ParsedPatch, PatchStep } from './patch-step.js';
import { parseUnified } from './unified/parse-unified.js';

/**
 * Parses a patch of any known format. The first line that is neither blank nor a comment decides the format.
 * @throws ToolError `patch_failed` with the line
 */
export function readPatch(text: string): ParsedPatch {
  if (/\p{Surrogate}/u.test(text)) throw unreadablePatch(1, 'it is not well-formed Unicode.');
  if (text.startsWith('\ufeff')) {
    throw unreadablePatch(
      1,
      'Invalid LP1 header: a byte order mark comes before the first line. Leave it out.',
    );
  }
  const lines = text.split('\n', LOOKED_AT);
  const at = lines.findIndex((line) => !/^[ \t]*(?:#|\r?$)/.test(line));
  const first = lines[at]?.trim();
  if (first === undefined || first === 'LP1') return { format: 'lp1', steps: lp1Steps(text) };
  if (first === '*** Begin Patch' || HEREDOC.test(first)) {
    return { format: 'begin_patch', steps: parseBeginPatch(text) };
  }
  if (UNIFIED.test(first)) return { format: 'unified', steps: parseUnified(text) };
  throw unreadablePatch(
    at + 1,
    `Invalid LP1 header ${JSON.stringify(first.slice(0, 80))}. A patch begins with "LP1", with "*** Begin Patch", ` +
      'or with the "diff --git" or "---" line of a unified diff.',
  );
}

/** How many lines are searched for the first relevant one. */
const LOOKED_AT = 10_000;
const HEREDOC = /^<<(?:EOF|'EOF'|"EOF")$/;
const UNIFIED = /^(?:diff |--- |Index: |From [0-9a-f]{7,} )/;

/** The files that a step touches. */
export function namedBy({ path, to }: PatchStep): readonly string[] {
  return to === undefined ? [path] : [path, to];
}

/** A valid patch with the facts that planning needs. */
export interface CheckedPatch {
  readonly patch: ParsedPatch;
  /** All paths in it, each once. */
  readonly paths: readonly string[];
  readonly effects: readonly Effect[];
  /** It deletes or moves a file. */
  readonly takesAway: boolean;
}

/** Each file stays open until all are written. */
const MAX_FILES = 1000;

/** @throws ToolError `patch_failed` with the line, `limit_exceeded`, `bad_args` */
export function checkPatch(text: string): CheckedPatch {
  const patch = readPatch(text);
  const paths = [...new Set(patch.steps.flatMap(namedBy))];
  if (paths.length > MAX_FILES) {
    throw new ToolError('limit_exceeded', `patch too large: ${paths.length} files (max: ${MAX_FILES} files)`);
  }
  for (const { path, added } of patch.steps) assertNotRedacted(path, added);
  const takesAway = patch.steps.some(({ effect }) => effect !== 'write');
  return { patch, paths, effects: effectsOf(patch), takesAway };
}

function effectsOf({ steps }: ParsedPatch): Effect[] {
  const effects = new Map<string, Effect>();
  const declare = (kind: 'read' | 'write' | 'delete', path: string): void => {
    effects.set(`${kind} ${path}`, { kind, path });
  };
  for (const { effect, path, to } of steps) {
    if (effect === 'write') declare('write', path);
    else {
      // A read too: if it is a link, its target is examined before the refusal.
      declare('read', path);
      declare('delete', path);
    }
    if (to !== undefined) declare('write', to);
  }
  return [...effects.values()];
}
