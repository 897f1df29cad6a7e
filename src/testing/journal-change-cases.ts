import type { Changes, Journal } from '../contract/journal.js';
import type { SharedJournalCase } from './describe-journal.js';
import { assertEqual, batchEntry, callEntry, successOf, WORKER } from './journal-entries.js';

type Looking = Journal & Required<Pick<Journal, 'changes'>>;

/** Only for journals that know their changes. */
function looking(run: (journal: Journal, reader: Looking) => Promise<void>): SharedJournalCase['run'] {
  const knows = (journal: Journal): journal is Looking => journal.changes !== undefined;
  return (first, second) => (knows(second) ? run(first, second) : Promise.resolve());
}

/** Polls until the journal reports its changes. Several polls may read the same change. */
async function markOf(reader: Looking): Promise<string> {
  let { mark } = await reader.changes();
  for (let looks = 0; looks < 20; looks++) {
    const changes = await reader.changes(mark);
    mark = changes.mark;
    if (!changes.isWhole && changes.calls.length === 0) break;
  }
  return mark;
}

const shown = ({ isWhole, calls }: Changes): unknown => ({
  isWhole,
  calls: calls.map(({ key, state, decision }) => [key, state, decision ?? null]),
});

/** The view of a reader in another process of the calls that change. */
export const SHARED_CHANGE_CASES: readonly SharedJournalCase[] = [
  {
    title: 'gives a reader the calls that have changed since its last look, as they are now',
    run: looking(async (journal, reader) => {
      const calls = ['x', 'y', 'z'].map((id) => callEntry(id));
      await journal.accept(batchEntry('old', calls));
      let mark = await markOf(reader);
      const look = async (): Promise<unknown> => {
        const changes = await reader.changes(mark);
        mark = changes.mark;
        return shown(changes);
      };
      assertEqual(await look(), { isWhole: false, calls: [] }, 'nothing has changed');
      await journal.claim('old/1', WORKER, 2);
      assertEqual(await look(), { isWhole: false, calls: [['old/1', 'running', null]] }, 'a claim');
      await journal.finish('old/1', successOf('y'), 3, WORKER);
      await journal.accept(batchEntry('new', [callEntry('x')]));
      const both = [
        ['old/1', 'done', null],
        ['new/0', 'queued', null],
      ];
      assertEqual(await look(), { isWhole: false, calls: both }, 'a result, and a new batch');
      await journal.decide('old', { kind: 'wait', at: 4, data: {} });
      const waiting = ['old/0', 'old/2'].map((key) => [key, 'queued', 'wait']);
      assertEqual(await look(), { isWhole: false, calls: waiting }, 'a decision about a batch');
      assertEqual(await look(), { isWhole: false, calls: [] }, 'nothing more');
    }),
  },
  {
    title: 'gives a reader without a mark all calls without a result',
    run: looking(async (journal, reader) => {
      await journal.accept(batchEntry('b1', [callEntry('x'), callEntry('y')]));
      await journal.claim('b1/0', WORKER, 2);
      await journal.finish('b1/0', successOf('x'), 3, WORKER);
      assertEqual(
        shown(await reader.changes()),
        { isWhole: true, calls: [['b1/1', 'queued', null]] },
        'calls',
      );
    }),
  },
];
