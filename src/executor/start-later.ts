import type { BatchRun, ToolEvent } from '../contract/executor.js';

/**
 * A batch that begins when the engine is there.
 * @param begin starts it then; told to begin as one that was aborted, where it was cancelled before that.
 */
export function startLater(
  id: string,
  begin: (cancelled: () => AbortSignal | undefined) => Promise<BatchRun>,
): BatchRun {
  let batch: BatchRun | undefined;
  let cancelled: AbortSignal | undefined;
  const begun = begin(() => cancelled).then((started) => {
    batch = started;
    if (cancelled !== undefined) started.cancel(reasonOf(cancelled));
    return started;
  });
  const results = begun.then((started) => started.results);
  // Who reads only the events hears of it there.
  results.catch(() => {});
  return {
    id,
    events: { [Symbol.asyncIterator]: () => eventsOf(begun) },
    results,
    cancel(reason) {
      if (batch === undefined) cancelled ??= AbortSignal.abort(reason);
      else batch.cancel(reason);
    },
  };
}

function reasonOf({ reason }: AbortSignal): string | undefined {
  return typeof reason === 'string' ? reason : undefined;
}

async function* eventsOf(begun: Promise<BatchRun>): AsyncGenerator<ToolEvent, void, void> {
  yield* (await begun).events;
}
