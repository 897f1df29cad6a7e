import type { RestoredFile } from '../../contract/files.js';
import { ToolError } from '../../errors/tool-error.js';
import { reasonOf } from '../answer/results.js';
import type { UndoPlan } from './plan-undo.js';
import type { UndoMeans, UndoRecord } from './undo-record.js';

/**
 * Removes files that are in the way first. If the other files cannot be restored, the removed ones are put
 * back.
 */
export async function restoreFiles(plan: UndoPlan, undo: UndoRecord, means: UndoMeans): Promise<void> {
  const { files, obstacles, clearsFirst, make, tidy } = plan;
  const sandbox = means.settings.sandbox.byCanonicalPath();
  const intend = undo.intend.bind(undo);
  if (!clearsFirst) return sandbox.restore(files, { intend, make, tidy });
  const first = files.filter(({ path }) => obstacles.has(path));
  const modes = new Map(
    [...first.map(({ path }) => path), ...tidy].flatMap((path) => {
      const entry = sandbox.examine(path);
      return 'mode' in entry ? [[path, entry.mode] as const] : [];
    }),
  );
  await sandbox.restore(first, { intend, tidy });
  try {
    const rest = files.filter(({ path }) => !obstacles.has(path));
    await sandbox.restore(rest, { intend, make, tidy });
  } catch (error) {
    await bringBack(first, modes, means);
    throw error;
  }
}

/**
 * @throws ToolError `execution_failed` (`details.lost`) if the files cannot be put back; the journal keeps
 * their contents.
 */
async function bringBack(
  removed: readonly RestoredFile[],
  modes: ReadonlyMap<string, number>,
  { journal, settings }: UndoMeans,
): Promise<void> {
  const paths = removed.map(({ path }) => path);
  try {
    const files = await Promise.all(
      removed.map(async ({ path, expectedSha256 }) => {
        const bytes = expectedSha256 === null ? undefined : await journal.kept(expectedSha256);
        if (bytes === undefined) throw new Error(`the journal has forgotten ${JSON.stringify(path)}`);
        const mode = modes.get(path);
        return { path, bytes, expectedSha256: null, ...(mode === undefined ? {} : { mode }) };
      }),
    );
    const make = [...modes].flatMap(([path, mode]) => (paths.includes(path) ? [] : [{ path, mode }]));
    await settings.sandbox.byCanonicalPath().restore(files, { make });
  } catch (cause) {
    const message = `Cannot put back ${paths.map((path) => JSON.stringify(path)).join(', ')}: ${reasonOf(cause)}. Undo the call again.`;
    throw new ToolError('execution_failed', message, { details: { lost: paths }, cause });
  }
}
