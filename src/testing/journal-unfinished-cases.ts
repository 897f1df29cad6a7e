import type { CallPage } from '../contract/journal.js';
import { assertEqual, assertPresent } from './assert-equal.js';
import type { JournalCase } from './describe-journal.js';
import { batchEntry, callEntry, successOf, WORKER } from './journal-entries.js';

/** What a restart looks at first: calls that are not done. */
export const UNFINISHED_CASES: readonly JournalCase[] = [
  {
    title: 'lists what is unfinished, oldest first, of one conversation or all',
    run: async (journal) => {
      const [first] = await journal.accept(
        batchEntry('b1', [callEntry('a'), callEntry('b')], { conversation: 'one' }),
      );
      await journal.accept(batchEntry('b2', [callEntry('c')], { conversation: 'two' }));
      const [last] = await journal.accept(batchEntry('b3', [callEntry('d')], { conversation: 'one' }));
      const ids = async (conversation?: string): Promise<readonly string[]> =>
        (await journal.unfinished(conversation)).map(({ callId }) => callId);
      assertEqual(await ids(), ['a', 'b', 'c', 'd'], 'all');
      assertEqual(await ids('one'), ['a', 'b', 'd'], 'of one conversation');
      assertEqual(await ids('none'), [], 'of no conversation');
      await journal.claim(assertPresent(last, 'answer').key, WORKER, 1);
      await journal.finish(assertPresent(first, 'answer').key, successOf('a'), 1);
      const left = await journal.unfinished('one');
      assertEqual(
        left.map(({ callId, state }) => [callId, state]),
        [
          ['b', 'queued'],
          ['d', 'running'],
        ],
        'left',
      );
    },
  },
  {
    title: 'lists what is unfinished page by page, behind a call that may be done by then',
    run: async (journal) => {
      await journal.accept(batchEntry('b1', [callEntry('a'), callEntry('b')], { conversation: 'one' }));
      await journal.accept(batchEntry('b2', [callEntry('c'), callEntry('d')], { conversation: 'two' }));
      const ids = async (page: CallPage, conversation?: string): Promise<readonly string[]> =>
        (await journal.unfinished(conversation, page)).map(({ callId }) => callId);
      assertEqual(await ids({ limit: 3 }), ['a', 'b', 'c'], 'the first page');
      assertEqual(await ids({ limit: 3, after: 'b2/0' }), ['d'], 'the next');
      await journal.finish('b1/1', successOf('b'), 1);
      assertEqual(await ids({ limit: 1, after: 'b1/1' }), ['c'], 'behind one that is done');
      assertEqual(await ids({ limit: 9, after: 'b1/0' }, 'one'), [], 'of one conversation');
      assertEqual(await ids({ limit: 9, after: 'b2/1' }), [], 'behind the last');
    },
  },
];
