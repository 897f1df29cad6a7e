import { relative, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import type { JsonObject } from '../contract/json.js';
import { realPlace } from '../platform/fs/probe-place.js';

/** Paths start where the agent is, not at the root. */
export function placedArgs(name: string, args: JsonObject, cwd: string, root: string): JsonObject {
  const { path, patch } = args;
  if (typeof path === 'string') return { ...args, path: resolve(cwd, path) };
  if (name === 'apply_patch' && typeof patch === 'string')
    return { ...args, patch: placedPatch(patch, cwd, root) };
  return name === 'grep' || name === 'glob' ? { ...args, path: cwd } : args;
}

/** A patch names files from where the agent is. */
function placedPatch(patch: string, cwd: string, root: string): string {
  const here = realPlace(cwd);
  if (here === root || !covers(root, here)) return patch;
  const below = relative(root, here);
  // Agents accept a header with blanks before it, and with any number of them before the path.
  return patch.replaceAll(
    /^([^\S\n]*\*\*\* (?:(?:Add|Update|Delete) File|Move to):[^\S\n]*)(?![/\s])(.*)$/gm,
    (_, head: string, path: string) => `${head}${below}/${path}`,
  );
}
