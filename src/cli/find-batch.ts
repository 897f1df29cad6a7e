import type { Journal } from '../contract/journal.js';
import { isToolError } from '../errors/tool-error.js';
import { findBatchId } from '../executor/approve/find-deferred.js';
import { UsageError } from './usage-error.js';

interface Waiting {
  readonly id: string;
  readonly conversation: string;
}

/**
 * The id of the batch that a person means: by its id, by the conversation in which just one waits, or by a beginning
 * of its id that no other batch has. It need not wait any more: then deciding says so.
 * @param waiting what the person can decide about
 * @throws UsageError for a name that is nothing of this, or several things.
 */
export async function findNamedBatch(
  named: string,
  action: string,
  journal: Journal,
  waiting: readonly Waiting[],
): Promise<string> {
  if (waiting.some(({ id }) => id === named)) return named;
  const inConversation = waiting.filter(({ conversation }) => conversation === named);
  const [only, ...others] = inConversation;
  if (only !== undefined && others.length === 0) return only.id;
  const ids = waiting.map(({ id }) => id).join(', ') || 'none';
  if (only !== undefined) {
    throw new UsageError(`Cannot ${action} "${named}": several batches of it wait. What waits: ${ids}.`);
  }
  try {
    return await findBatchId(journal, named, action);
  } catch (error) {
    if (!isToolError(error, 'unknown_batch')) throw error;
    throw new UsageError(`${error.message} What waits: ${ids}.`, { cause: error });
  }
}
