import type { Acceptance, CallRecord } from '../../contract/journal.js';
import { hasArguments } from '../../journal/redaction/redacting-journal.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall } from '../call/evaluated-call.js';
import { attachToRecord, withUnrecorded } from './attach.js';
import type { JournalDeadline } from './journal-deadline.js';

/**
 * Answers the calls of a batch that cannot be recorded, if an earlier delivery has an answer: reading the
 * journal may work even when writing fails.
 */
export async function findAnswered(
  evaluated: readonly EvaluatedCall[],
  scope: BatchScope,
  deadline: JournalDeadline,
): Promise<readonly EvaluatedCall[]> {
  return Promise.all(
    evaluated.map(async (call) => {
      const earlier = await findEarlier(call, scope, deadline);
      return earlier?.kind === 'known' && isFinal(earlier.record) ? attachToRecord(call, earlier) : call;
    }),
  );
}

/** Undefined: the call was never delivered, or the journal cannot be read. */
async function findEarlier(
  { call }: EvaluatedCall,
  { id, conversation, settings: { journal } }: BatchScope,
  deadline: JournalDeadline,
): Promise<Acceptance | undefined> {
  const { turn, madeUp } = call;
  if (journal === null || (madeUp === true && turn === undefined)) return undefined;
  try {
    const finding = journal.find(conversation, call.id, madeUp === true ? turn : undefined);
    const record = await deadline.within(Promise.resolve(finding));
    const isSame =
      record !== undefined &&
      record.batchId !== id &&
      record.toolName === call.name &&
      hasArguments(record, call.args, journal);
    return isSame ? withUnrecorded({ kind: 'known', key: record.key, record }, { journal }) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether an answer is final. If a call did not run because it could not be recorded, it may run when the
 * journal works again.
 */
function isFinal({ result, worker }: CallRecord): boolean {
  if (result === undefined) return worker !== undefined;
  return result.error?.code !== 'journal_unavailable' || result.error.details?.executed !== 'no';
}

/** Whether the conversation waits for the person to decide about calls that a crash left half done. */
export async function isHeld({ conversation, settings: { journal } }: BatchScope): Promise<boolean> {
  for (const { id } of (await journal?.batches({ conversation, waiting: true })) ?? []) {
    const last = (await journal?.decisions(id))?.at(-1);
    if (last?.kind === 'wait' && last.data.why !== 'approval') return true;
  }
  return false;
}
