import type { CallEntry, Journal } from '../contract/journal.js';
import type { SharedJournalCase } from './describe-journal.js';
import { assertEqual, batchEntry, callEntry, OTHER_WORKER, successOf, WORKER } from './journal-entries.js';

type OrderedJournal = Journal & Required<Pick<Journal, 'waiting'>>;

function whereOrdered(
  run: (first: OrderedJournal, second: OrderedJournal) => Promise<void>,
): SharedJournalCase['run'] {
  return (first, second) => (isOrdered(first) && isOrdered(second) ? run(first, second) : Promise.resolve());
}

function isOrdered(journal: Journal): journal is OrderedJournal {
  return journal.waiting !== undefined;
}

const PLACES = ['/work/a.txt'];

async function accept(
  journal: Journal,
  id: string,
  worker = WORKER,
  calls: readonly CallEntry[] = [callEntry(id)],
): Promise<boolean> {
  const answers = await journal.accept(batchEntry(id, calls, { worker, attach: true }));
  return answers.some((answer) => answer.kind === 'fresh' && answer.behind === true);
}

const keysBefore = async (journal: OrderedJournal, batchId: string): Promise<readonly string[]> =>
  (await journal.waiting(batchId)).map(({ key }) => key);

/** The order of the calls of a conversation, among workers. */
export const ORDER_CASES: readonly SharedJournalCase[] = [
  {
    title: 'says of a fresh call whether another worker may have one before it',
    run: whereOrdered(async (first, second) => {
      assertEqual(await accept(first, 'b1'), false, 'the first of all');
      assertEqual(await accept(first, 'b2'), false, 'behind calls of the same worker');
      assertEqual(await accept(second, 'b3', OTHER_WORKER), true, 'behind calls of another');
      assertEqual(await accept(first, 'b4'), true, 'behind calls of both');
      await second.finish('b3/0', successOf('b3'), 1, WORKER);
      assertEqual(await accept(first, 'b5'), false, 'once the calls of the other are done');
    }),
  },
  {
    title: 'lists what the calls of a batch may wait for: unanswered ones before it, and later ones that run',
    run: whereOrdered(async (first, second) => {
      await accept(first, 'b1', WORKER, [callEntry('x'), callEntry('y')]);
      await accept(second, 'b2', OTHER_WORKER);
      await accept(first, 'b3');
      await accept(first, 'b4');
      await first.accept(batchEntry('other', [callEntry('x')], { conversation: 'other', worker: WORKER }));
      await first.finish('b1/0', successOf('x'), 1, WORKER);
      assertEqual(await keysBefore(second, 'b2'), ['b1/1'], 'before the second');
      await second.claim('b4/0', OTHER_WORKER, 2);
      assertEqual(await keysBefore(second, 'b2'), ['b1/1', 'b4/0'], 'while a later one runs');
      assertEqual(await keysBefore(first, 'b3'), ['b1/1', 'b2/0', 'b4/0'], 'before the third');
      assertEqual(await keysBefore(first, 'b1'), ['b4/0'], 'before the first');
      assertEqual(await keysBefore(first, 'none'), [], 'before a batch that there is not');
      const [record] = await second.waiting('b2');
      assertEqual(record, await first.call('b1/1'), 'the record');
    }),
  },
  {
    title: 'keeps the places of effects beside the effects',
    run: whereOrdered(async (first, second) => {
      const two: CallEntry = {
        ...callEntry('x'),
        effects: [{ kind: 'ask' }, { kind: 'read', path: 'a.txt' }],
        places: [null, '/work/a.txt'],
      };
      await accept(first, 'b1', WORKER, [{ ...callEntry('y'), places: PLACES }, two]);
      const [one, other] = await second.batch('b1');
      assertEqual([one?.effects, one?.places], [callEntry('y').effects, PLACES], 'of one effect');
      assertEqual([other?.effects, other?.places], [two.effects, two.places], 'of two');
    }),
  },
];
