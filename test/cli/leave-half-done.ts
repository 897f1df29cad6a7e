import type { ToolCall } from '../../src/contract/call.js';
import type { CallEntry, Worker } from '../../src/contract/journal.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { batchEntry, successOf } from '../../src/testing/journal-entries.js';

/** No process has this number. */
export const DEAD: Worker = { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 };

/** Three commands, as left in a journal by a process that dies in the second one. */
export async function leaveHalfDone(
  journal: string,
  calls: readonly (ToolCall & { readonly args: { readonly command: string } })[],
  { id = 'b1', conversation = 'c' } = {},
): Promise<void> {
  const store = openJournal(journal);
  const entries = calls.map(
    ({ id: callId, name, args }): CallEntry => ({
      callId,
      toolName: name,
      args,
      effects: [{ kind: 'run', command: args.command, shell: 'sh' }],
      disposition: 'requires_confirmation',
      reason: '',
    }),
  );
  await store.accept(batchEntry(id, entries, { conversation, attach: true, worker: DEAD }));
  await store.claim(`${id}/0`, DEAD, 1);
  await store.finish(`${id}/0`, { ...successOf('call_0', 'one\n'), toolName: 'bash' }, 2, DEAD);
  await store.claim(`${id}/1`, DEAD, 3);
  await store.note(`${id}/1`, { kind: 'process', data: { starting: true }, at: 4 });
  await store.close();
}
