import { UsageError } from './usage-error.js';

/** A misspelt `--approve` would refuse the call that was meant, after others have run. @throws UsageError */
export function requireKnownIds(
  approve: readonly string[] | undefined,
  calls: readonly { readonly id?: string }[],
  what: 'response' | 'batch',
): void {
  const known = new Set(calls.map(({ id }) => id));
  const unknown = approve?.find((id) => !known.has(id));
  if (unknown === undefined) return;
  const ids = [...known].filter((id) => id !== undefined).join(', ');
  throw new UsageError(
    `Cannot approve "${unknown}": the ${what} has no such call. Its calls: ${ids || 'none'}.`,
  );
}
