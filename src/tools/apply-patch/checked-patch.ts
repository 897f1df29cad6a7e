import type { Effect } from '../../contract/effect.js';
import { ToolError } from '../../errors/tool-error.js';
import { assertNotRedacted } from '../redacted-text.js';
import type { ParsedPatch } from './patch-step.js';
import { namedBy, readPatch } from './read-patch.js';

/** A patch that could be applied, and what planning asks about it. */
export interface CheckedPatch {
  readonly patch: ParsedPatch;
  /** All that it names, each once. */
  readonly paths: readonly string[];
  readonly effects: readonly Effect[];
  /** It deletes or moves a file. */
  readonly takesAway: boolean;
}

/** Each is held open until all are written. */
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
      // Read as well: where it is a link, what it leads to is looked at before it is refused.
      declare('read', path);
      declare('delete', path);
    }
    if (to !== undefined) declare('write', to);
  }
  return [...effects.values()];
}
