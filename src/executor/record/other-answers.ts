import type { ToolResult } from '../../contract/call.js';
import type { Acceptance, CallKey, Journal } from '../../contract/journal.js';
import { failure, type NamedCall } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import { type AttachContext, asDecided, awaitDeliveries } from './attach.js';
import type { JournalDeadline } from './journal-deadline.js';
import type { RecordedBatch } from './recorder.js';

/** The answers of other processes to calls of a batch. */
export class OtherAnswers {
  readonly context: AttachContext;
  readonly #deadline: JournalDeadline;
  readonly #broke: (error: unknown) => void;

  /** @param broke called if the journal fails during the wait */
  constructor(
    journal: Journal,
    { settings }: BatchScope,
    batch: RecordedBatch,
    deadline: JournalDeadline,
    broke: (error: unknown) => void,
  ) {
    const { isWorkerAlive, clock, timeouts } = settings;
    this.context = {
      isWorkerAlive,
      clock,
      journal,
      // Created only if there is another process to wait for: an abort signal for each batch costs more than its plan.
      get stopped() {
        return batch.stopped;
      },
      recovery: batch.recovery,
      patienceMs: timeouts.default.ms,
    };
    this.#deadline = deadline;
    this.#broke = broke;
  }

  /**
   * The same acceptances, with the answers of calls that run elsewhere. If the journal fails during the wait, the
   * outcome of those calls stays unknown.
   */
  async await(acceptances: readonly Acceptance[]): Promise<readonly Acceptance[]> {
    try {
      return (await awaitDeliveries(acceptances, this.context)) ?? acceptances;
    } catch (error) {
      this.#broke(error);
      return acceptances;
    }
  }

  /** Resolves to the recorded answer of a call. Undefined: the answer is not known. Never rejects. */
  async of(key: CallKey): Promise<ToolResult | undefined> {
    try {
      const record = await this.#deadline.within(Promise.resolve(this.context.journal.call(key)));
      if (record === undefined) return undefined;
      const [answer] = await this.await([{ kind: 'known', key: record.key, record }]);
      if (answer?.kind !== 'known' || answer.record.result === undefined) return undefined;
      return asDecided(answer.record, answer.record.result);
    } catch {
      return undefined;
    }
  }
}

/** The answer to a call of another process if its recorded answer could not be read. */
export function unknownElsewhere(call: NamedCall): ToolResult {
  const message = 'Another process has taken this call. Its result is in the journal, or not known yet.';
  return failure(call, 'outcome_unknown', message, 'maybe');
}
