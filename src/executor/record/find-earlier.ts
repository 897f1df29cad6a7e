import type { Acceptance, Journal } from '../../contract/journal.js';
import { hasArguments } from '../../journal/redaction/redacting-journal.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall } from '../call/evaluated-call.js';
import { withUnrecorded } from './attach.js';
import type { Recorder } from './recorder.js';

/**
 * What earlier deliveries of these calls have come to, where a batch cannot be recorded: reading may work when writing
 * does not. Undefined for a call that was never delivered, or where nothing can be read.
 */
export async function findEarlier(
  evaluated: readonly EvaluatedCall[],
  { id, conversation }: Pick<BatchScope, 'id' | 'conversation'>,
  { journal, patiently }: { readonly journal: Journal; readonly patiently: Recorder['patiently'] },
): Promise<readonly (Acceptance | undefined)[]> {
  const find = async ({ call }: EvaluatedCall): Promise<Acceptance | undefined> => {
    try {
      const { turn } = call;
      if (call.madeUp === true && turn === undefined) return undefined;
      const record = await patiently(
        Promise.resolve(journal.find(conversation, call.id, call.madeUp === true ? turn : undefined)),
      );
      const isSame =
        record !== undefined &&
        record.batchId !== id &&
        record.toolName === call.name &&
        hasArguments(record, call.args, journal);
      return isSame ? { kind: 'known', key: record.key, record } : undefined;
    } catch {
      return undefined;
    }
  };
  const found = await Promise.all(evaluated.map(find));
  return found.map((answer) => answer && withUnrecorded(answer, { journal }));
}
