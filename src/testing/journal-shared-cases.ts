import { assertEqual, assertPresent } from './assert-equal.js';
import type { SharedJournalCase } from './describe-journal.js';
import {
  batchEntry,
  callEntry,
  failureOf,
  OTHER_WORKER,
  pictureOf,
  successOf,
  WORKER,
} from './journal-entries.js';

/** Two journals over the same records, as two processes have them. */
export const SHARED_CASES: readonly SharedJournalCase[] = [
  {
    title: 'finds in another journal what was answered in this one',
    run: async (first, second) => {
      const [answer] = await first.accept(batchEntry('b1', [callEntry('x')], { attach: true }));
      const { key } = assertPresent(answer, 'answer');
      await first.claim(key, WORKER, 1);
      await first.note(key, { kind: 'intent', data: { path: 'a.txt' }, at: 2 });
      assertEqual(await second.call(key), await first.call(key), 'running');
      assertEqual((await second.unfinished()).length, 1, 'unfinished');
      await first.finish(key, successOf('x'), 3);
      assertEqual(await second.find('conversation', 'x'), await first.call(key), 'done');
      assertEqual(await second.notes(key), await first.notes(key), 'notes');
      assertEqual(await second.unfinished(), [], 'nothing unfinished');
      const [again] = await second.accept(batchEntry('b2', [callEntry('x')], { attach: true }));
      assertEqual(again?.kind, 'known', 'second delivery');
    },
  },
  {
    title: 'finds in another journal the content of a result, short or long',
    run: async (first, second) => {
      const bytes = Uint8Array.from({ length: 3_000 }, (_, at) => at % 256);
      await first.accept(batchEntry('b1', [callEntry('x'), callEntry('y')], { attach: true }));
      const results = [pictureOf('x', bytes), pictureOf('y', bytes, 'z'.repeat(100_000))];
      for (const [index, result] of results.entries()) await first.finish(`b1/${index}`, result, 1);
      const read = (await second.batch('b1')).map(({ result }) => result);
      assertEqual(read, results, 'results');
    },
  },
  {
    title: 'finds in another journal what was decided, said and kept in this one',
    run: async (first, second) => {
      await first.accept(batchEntry('b1', [callEntry('x')], { worker: WORKER, message: { text: 'hi' } }));
      await first.decide('b1', { kind: 'wait', at: 1, data: { why: 'test' } });
      await first.message('conversation', { role: 'user', content: 'hello', at: 2 });
      const hash = await first.keep(Uint8Array.of(1, 2, 3));
      assertEqual(await second.batches({ waiting: true }), await first.batches(), 'batches');
      assertEqual(await second.history('conversation'), await first.history('conversation'), 'history');
      assertEqual([...((await second.kept(hash)) ?? [])], [1, 2, 3], 'what was kept');
      const decided = (journal: typeof first): unknown =>
        journal.decide('b1', { kind: 'resume', at: 3, data: {} });
      const counted = await Promise.all([decided(first), decided(second)]);
      assertEqual([...counted].sort(), [false, true], 'decisions that count');
      assertEqual((await first.decisions('b1')).length, 2, 'decisions');
    },
  },
  {
    title: 'lets one of two journals claim a call, whoever asks first',
    run: async (first, second) => {
      const entries = Array.from({ length: 30 }, (_, index) => callEntry(`x${index}`));
      const answers = await first.accept(batchEntry('b1', entries));
      const claims = answers.map(({ key }, index) => {
        const [one, other] = index % 2 === 0 ? [first, second] : [second, first];
        return Promise.all([one.claim(key, WORKER, 1), other.claim(key, OTHER_WORKER, 2)]);
      });
      for (const won of await Promise.all(claims)) {
        assertEqual(won.filter((each) => each).length, 1, 'claims that won');
      }
    },
  },
  {
    title: 'lets one of two journals finish a call; the other is late',
    run: async (first, second) => {
      const [answer] = await first.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const said = await Promise.all([
        first.finish(key, successOf('x'), 1),
        second.finish(key, failureOf('x'), 2),
      ]);
      assertEqual([...said].sort(), ['late', 'recorded'], 'answers');
      const won = said[0] === 'recorded' ? successOf('x') : failureOf('x');
      assertEqual((await second.call(key))?.result, won, 'result');
      assertEqual(
        (await first.notes(key)).map(({ kind }) => kind),
        ['late_result'],
        'notes',
      );
    },
  },
  {
    title: 'lets both accept without losing a batch',
    run: async (first, second) => {
      const accepted = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).accept(batchEntry(`b${index}`, [callEntry(`x${index}`)])),
      );
      await Promise.all(accepted);
      assertEqual((await first.unfinished()).length, 20, 'in the first');
      assertEqual(await second.unfinished(), await first.unfinished(), 'in both');
    },
  },
];
