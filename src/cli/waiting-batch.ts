import { resolve } from 'node:path';
import type { ReadError } from '../contract/call.js';
import type { Journal } from '../contract/journal.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { isToolError } from '../errors/tool-error.js';
import { findBatchId } from '../executor/approve/find-deferred.js';
import type { CallOrigin } from '../providers/call-origin.js';
import { isWireFormat, type WireFormat } from '../providers/registry.js';
import { UsageError } from './cli-context.js';
import type { ModelResponse } from './read-input.js';

/** The data of a response that is needed to answer it later in its format. */
export interface BatchOrigin {
  readonly format: WireFormat;
  readonly origins?: readonly CallOrigin[];
  readonly errors: readonly ReadError[];
  /** The roots of the calls, absolute; empty if unknown. */
  readonly roots: readonly string[];
}

export function absolute(roots: readonly string[]): string[] {
  return roots.map((root) => resolve(root));
}

/** The journal's form. */
export function toOrigin(
  { format, origins, errors }: Pick<ModelResponse, 'format' | 'origins' | 'errors'>,
  roots: readonly string[],
  more: JsonObject = {},
): JsonObject {
  // All three are plain JSON by declaration.
  const kept = {
    format,
    ...(origins === undefined ? {} : { origins }),
    errors,
    roots: absolute(roots),
    ...more,
  };
  return kept as unknown as JsonObject;
}

/** Reads the stored data; a batch of another program has none and is answered in the native format. */
export function readOrigin(kept: JsonObject | undefined): BatchOrigin {
  const { format, origins, errors, roots } = kept ?? {};
  return {
    format: isWireFormat(format) ? format : 'native',
    ...(isList<CallOrigin>(origins) ? { origins } : {}),
    errors: isList<ReadError>(errors) ? errors : [],
    roots: isList<string>(roots) ? roots : [],
  };
}

/** Written by the function above. */
function isList<T>(value: JsonValue | readonly T[] | undefined): value is readonly T[] {
  return Array.isArray(value);
}

interface Waiting {
  readonly id: string;
  readonly conversation: string;
}

/**
 * Finds the batch that a person means: by its id, by a conversation with one waiting batch, or by a unique
 * prefix. If the batch no longer waits, the decision reports that.
 * @param waiting the batches that the person can decide
 * @throws UsageError for a name without a match, or with several
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
    throw new UsageError(`Cannot ${action} "${named}": several of its batches wait: ${ids}.`);
  }
  try {
    return await findBatchId(journal, named, action);
  } catch (error) {
    if (!isToolError(error, 'unknown_batch')) throw error;
    throw new UsageError(`${error.message} These wait: ${ids}.`, { cause: error });
  }
}
