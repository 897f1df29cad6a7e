import { isAbsolute, relative, resolve } from 'node:path';
import type { JsonObject } from '../contract/json.js';

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
  const below = relative(root, cwd);
  if (below === '' || below.startsWith('..') || isAbsolute(below)) return patch;
  return patch.replaceAll(
    /^(\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: )(?!\/)(.*)$/gm,
    (_, head: string, path: string) => `${head}${below}/${path}`,
  );
}
