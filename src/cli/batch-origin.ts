import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { CallOrigin } from '../protocols/call-origin.js';
import { isWireFormat, type WireFormat } from '../protocols/registry.js';
import type { ReadError } from '../protocols/resolve-call.js';
import type { ModelResponse } from './input/read-response.js';

/** What has to be known of a response to answer it in kind, however much later. */
export interface BatchOrigin {
  readonly format: WireFormat;
  readonly origins?: readonly CallOrigin[];
  readonly errors: readonly ReadError[];
  /** Where the calls were to work, absolute; empty where that is not known. */
  readonly roots: readonly string[];
}

export function absolute(roots: readonly string[]): string[] {
  return roots.map((root) => resolve(root));
}

/** As the journal keeps it. */
export function toOrigin({ format, origins, errors }: ModelResponse, roots: readonly string[]): JsonObject {
  // All three are plain JSON by their own word.
  const kept = { format, ...(origins === undefined ? {} : { origins }), errors, roots: absolute(roots) };
  return kept as unknown as JsonObject;
}

/** What was kept; a program's own batches have nothing that we could read, and are answered in the native format. */
export function readOrigin(kept: JsonObject | undefined): BatchOrigin {
  const { format, origins, errors, roots } = kept ?? {};
  return {
    format: isWireFormat(format) ? format : 'native',
    ...(isList<CallOrigin>(origins) ? { origins } : {}),
    errors: isList<ReadError>(errors) ? errors : [],
    roots: isList<string>(roots) ? roots : [],
  };
}

/** Written by ourselves, a line above. */
function isList<T>(value: JsonValue | readonly T[] | undefined): value is readonly T[] {
  return Array.isArray(value);
}
