import type { CallRecord, Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import type { EngineSettings } from '../settings.js';
import { readIntent } from './noted-change.js';

/**
 * Whether a started call has changed files outside of these roots, as one of another directory has that shares the
 * journal: what they say can be read there, and an answer that is given once stays.
 */
export async function liesElsewhere(
  { key, worker }: CallRecord,
  journal: Journal,
  { sandbox }: Pick<EngineSettings, 'sandbox'>,
): Promise<boolean> {
  if (worker === undefined) return false;
  const inside = sandbox.byCanonicalPath();
  const isOutside = ({ path }: { readonly path: string }): boolean => {
    try {
      inside.resolve(path, 'delete');
      return false;
    } catch (error) {
      return isToolError(error, 'sandbox_violation') && error.details?.reason === 'PathOutsideSandbox';
    }
  };
  const notes = await journal.notes(key);
  return notes.some(
    ({ kind, data }) => kind === 'intent' && readIntent(data)?.changes.some(isOutside) === true,
  );
}
