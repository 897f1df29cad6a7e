import type { Awaitable } from '../contract/call.js';
import { type Journal, NOTE_KINDS } from '../contract/journal.js';
import type { SharedJournalCase } from './describe-journal.js';
import {
  assertEqual,
  assertPresent,
  batchEntry,
  callEntry,
  failureOf,
  OTHER_WORKER,
  pictureOf,
  successOf,
  WORKER,
} from './journal-entries.js';

/** The maintenance of a journal: pruning old records and verifying the others. */
export interface JournalUpkeep {
  /** Whether every record is unchanged; called while nothing is running. */
  readonly verify: () => Awaitable<boolean>;
  /** Removes records that were finished before a time; milliseconds since the epoch. */
  readonly prune: (before: number) => Awaitable<unknown>;
}

/** A rule for a journal with maintenance. */
export interface UpkeepCase {
  readonly title: string;
  readonly run: (journal: Journal, upkeep: JournalUpkeep) => Promise<void>;
}

/** Verified and pruned records. */
export const UPKEEP_CASES: readonly UpkeepCase[] = [
  {
    title: 'vouches for everything that it has written',
    run: async (journal, { verify }) => {
      assertEqual(await verify(), true, 'an empty one');
      await writeAll(journal, 'b1', 1);
      assertEqual(await verify(), true, 'with all kinds of records');
    },
  },
  {
    title: 'prunes what was settled before a time, with all that belongs to it, and vouches for the rest',
    run: async (journal, { verify, prune }) => {
      const { key, kept } = await writeAll(journal, 'old', 1);
      await writeAll(journal, 'young', 1_000);
      await prune(500);
      assertEqual(await idsOf(journal), ['young'], 'batches');
      assertEqual(await journal.call(key), undefined, 'a call that is gone');
      assertEqual(await journal.notes(key), [], 'its notes');
      assertEqual(await journal.decisions('old'), [], 'the decisions about its batch');
      assertEqual((await journal.decisions('young')).length, 2, 'the decisions that stay');
      assertEqual((await journal.notes('young/0')).length, NOTE_KINDS.length, 'the notes that stay');
      assertEqual((await journal.kept(kept))?.length, 3, 'a content that a note of the other still names');
      assertEqual(await verify(), true, 'the rest');
    },
  },
  {
    title: 'prunes the content of results that nothing else names, also while a call is under way',
    run: async (journal, { verify, prune }) => {
      const [own, shared] = [Uint8Array.of(1, 1), Uint8Array.of(2, 2)];
      const hashes = [await journal.keep(own), await journal.keep(shared)];
      const add = async (id: string, at: number, ...pictures: readonly Uint8Array[]): Promise<void> => {
        const calls = pictures.map((_, index) => callEntry(`x${index}`));
        await journal.accept(batchEntry(id, calls, { at, conversation: id }));
        for (const [index, data] of pictures.entries()) {
          const output = index === 0 ? 'short' : 'z'.repeat(100_000);
          await journal.finish(`${id}/${index}`, pictureOf(`x${index}`, data, output), at, WORKER);
        }
      };
      await add('old', 1, own, own, shared);
      await add('young', 1_000, Uint8Array.of(3), shared);
      await journal.accept(batchEntry('open', [callEntry('x')], { at: 1, conversation: 'open' }));
      assertEqual(await verify(), true, 'all of it');
      await prune(500);
      const [first = '', second = ''] = hashes;
      assertEqual(await journal.kept(first), undefined, 'a content that only the old ones had');
      assertEqual((await journal.kept(second))?.length, 2, 'a content that a young one has too');
      assertEqual((await journal.call('young/1'))?.result?.content?.length, 4, 'its blocks');
      assertEqual(await verify(), true, 'the rest');
    },
  },
  {
    title: 'prunes nothing that is not settled, waits, or was answered from; and forgets what it prunes',
    run: async (journal, { verify, prune }) => {
      for (const id of ['queued', 'running', 'waits', 'first', 'gone']) {
        await journal.accept(batchEntry(id, [callEntry(id)], { attach: true, conversation: id, at: 1 }));
      }
      await journal.claim('running/0', WORKER, 1);
      await journal.decide('waits', { kind: 'wait', at: 1, data: {} });
      for (const id of ['waits', 'first', 'gone']) await journal.finish(`${id}/0`, successOf(id), 1, WORKER);
      const again = (conversation: string, id: string): unknown =>
        Promise.resolve(
          journal.accept(
            batchEntry(id, [callEntry(conversation)], { attach: true, conversation, at: 1_000 }),
          ),
        ).then(([answer]) => answer?.kind);
      assertEqual(await again('first', 'repeat'), 'known', 'a second delivery');
      await prune(500);
      assertEqual(await idsOf(journal), ['repeat', 'first', 'waits', 'running', 'queued'], 'batches');
      assertEqual(await again('first', 'third'), 'known', 'what a later batch was answered from');
      assertEqual(await again('gone', 'later'), 'fresh', 'what was pruned');
      assertEqual((await journal.unfinished()).length, 3, 'unfinished calls');
      assertEqual((await journal.batches({ waiting: true })).length, 1, 'what waits');
      assertEqual(await verify(), true, 'the rest');
    },
  },
];

async function idsOf(journal: Journal): Promise<readonly string[]> {
  return (await journal.batches()).map(({ id }) => id);
}

/** A batch with every kind of record, all at the same time. */
async function writeAll(
  journal: Journal,
  id: string,
  at: number,
): Promise<{ readonly key: string; readonly kept: string }> {
  const message = { text: 'I look.', model: 'm' };
  const more = { at, worker: WORKER, message, origin: { a: 1 }, conversation: id };
  const [answer] = await journal.accept(batchEntry(id, [callEntry('x')], more));
  const key = answer?.key ?? '';
  await journal.claim(key, WORKER, at);
  const kept = await journal.keep(Uint8Array.of(1, 2, 3));
  for (const kind of NOTE_KINDS) {
    await journal.note(key, { kind, data: kind === 'intent' ? { preimage: kept } : { id }, at });
  }
  await journal.remember?.(id, [{ key: 'k', value: { of: id }, at }]);
  await journal.message(id, { role: 'user', content: id, at });
  await journal.decide(id, { kind: 'wait', at, data: {} });
  await journal.decide(id, { kind: 'resume', at, data: {} });
  await journal.finish(key, successOf('x', 'z'.repeat(100_000)), at, WORKER);
  return { key, kept };
}

/** Two journals over the same records, like two processes. */
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
      await first.finish(key, successOf('x'), 3, WORKER);
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
      for (const [index, result] of results.entries()) await first.finish(`b1/${index}`, result, 1, WORKER);
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
    title: 'gives with a call what the person has said of it, where its outcome was not known',
    run: async (first, second) => {
      const entries = ['known', 'unknown', 'unsaid'].map((id) => callEntry(id));
      await first.accept(batchEntry('b1', entries));
      await first.decide('b1', { kind: 'wait', at: 1, data: {} });
      await first.finish('b1/0', failureOf('known'), 1, WORKER);
      for (const place of [1, 2])
        await first.finish(`b1/${place}`, failureOf('unknown', 'outcome_unknown'), 1, WORKER);
      const settled = { known: 'applied', unknown: 'applied', unsaid: 'perhaps' };
      await first.decide('b1', { kind: 'resume', at: 2, data: { settled } });
      for (const journal of [first, second]) {
        const said = (await journal.batch('b1')).map((call) => call.settled);
        assertEqual(said, [undefined, 'applied', undefined], 'what was said');
      }
    },
  },
  {
    title: 'lets one of two journals claim a call, the one that asks first',
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
        first.finish(key, successOf('x'), 1, WORKER),
        second.finish(key, failureOf('x'), 2, WORKER),
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
