import type { Draft } from '../draft.js';
import { unfitPatch, unreadablePatch } from '../patch-error.js';
import type { Appliers, PatchStep } from '../patch-step.js';
import type { Hunk } from './apply-hunks.js';
import type { GitHeader } from './git-header.js';
import { NO_FILE } from './header-path.js';

interface FileDiff {
  readonly line: number;
  readonly git: GitHeader | undefined;
  /** As the `---` and `+++` lines have them. */
  readonly old: string | undefined;
  readonly fresh: string | undefined;
  readonly hunks: readonly Hunk[];
}

/** @throws ToolError `patch_failed` when it cannot be told what shall become of which file */
export function fileStep(diff: FileDiff): PatchStep {
  const { line, git, hunks } = diff;
  const { old, fresh } = pathsOf(diff);
  const added = hunks.flatMap((hunk) => hunk.added);
  if (old === NO_FILE)
    return { line, path: fresh, effect: 'write', added, run: (draft, by) => create(diff, fresh, draft, by) };
  if (fresh === NO_FILE)
    return { line, path: old, effect: 'delete', added, run: (draft, by) => remove(diff, old, draft, by) };
  const run: PatchStep['run'] = (draft, by) => modify(diff, old, draft, by);
  if (old === fresh) {
    if (hunks.length === 0)
      throw unreadablePatch(line, `nothing is said of what shall become of ${old}: no hunk follows.`);
    return { line, path: old, effect: 'write', added, run };
  }
  if (git?.renameFrom !== undefined) return { line, path: old, effect: 'move', to: fresh, added, run };
  throw unreadablePatch(
    line,
    `the old file is ${old}, the new one ${fresh}. Name the same file twice, or rename it with git's "rename from" and "rename to".`,
  );
}

function* create({ line, hunks }: FileDiff, path: string, draft: Draft, by: Appliers): Generator<void, void> {
  if (draft.exists) throw unfitPatch({ path, line }, 'the file exists already, and the patch creates it.');
  draft.become(new Uint8Array(0));
  yield* by.applyHunks({ path, line }, hunks, draft);
}

function* remove(diff: FileDiff, path: string, draft: Draft, by: Appliers): Generator<void, void> {
  yield* modify(diff, path, draft, by);
  if (draft.text().lines.length > 0) {
    const place = { path, line: diff.line };
    throw unfitPatch(place, 'the patch deletes the file, and its hunks leave some of its content.');
  }
  draft.remove();
}

function* modify({ line, hunks }: FileDiff, path: string, draft: Draft, by: Appliers): Generator<void, void> {
  if (!draft.exists) throw unfitPatch({ path, line }, 'the file does not exist.');
  yield* by.applyHunks({ path, line }, hunks, draft);
}

function pathsOf({ line, git, old, fresh }: FileDiff): { readonly old: string; readonly fresh: string } {
  if (git?.renameFrom !== undefined && git.renameTo !== undefined) {
    return { old: git.renameFrom, fresh: git.renameTo };
  }
  const named = old !== undefined && fresh !== undefined ? { old, fresh } : git?.both;
  if (named === undefined)
    throw unreadablePatch(line, 'the file cannot be told: "---" and "+++" lines are missing.');
  const stripped = stripPrefixes(named);
  const paths = {
    old: git?.isNew === true ? NO_FILE : stripped.old,
    fresh: git?.isDeleted === true ? NO_FILE : stripped.fresh,
  };
  if (paths.old === NO_FILE && paths.fresh === NO_FILE)
    throw unreadablePatch(line, 'neither an old nor a new file.');
  return paths;
}

/** `a/` and `b/`, where git or diff has put both. */
function stripPrefixes({ old, fresh }: { old: string; fresh: string }): { old: string; fresh: string } {
  const isPrefixed =
    (old === NO_FILE || old.startsWith('a/')) && (fresh === NO_FILE || fresh.startsWith('b/'));
  if (!isPrefixed) return { old, fresh };
  return {
    old: old === NO_FILE ? old : old.slice(2),
    fresh: fresh === NO_FILE ? fresh : fresh.slice(2),
  };
}
