import type { ModelResponse } from './input/read-response.js';
import { UsageError } from './usage-error.js';

/** A misspelt `--approve` would refuse the call that was meant, after others have run. @throws UsageError */
export function requireKnownIds(
  approve: readonly string[] | undefined,
  { calls, errors }: ModelResponse,
): void {
  const known = new Set([...calls, ...errors].map(({ id }) => id));
  const unknown = approve?.find((id) => !known.has(id));
  if (unknown === undefined) return;
  const ids = [...known].filter((id) => id !== undefined).join(', ');
  throw new UsageError(
    `Cannot approve "${unknown}": the response has no such call. Its calls: ${ids || 'none'}.`,
  );
}
