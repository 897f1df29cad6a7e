import type { ConversationFact, Journal, RecalledFacts } from '../contract/journal.js';
import { assertEqual } from './assert-equal.js';
import type { JournalCase, SharedJournalCase } from './describe-journal.js';
import { batchEntry, callEntry, successOf, WORKER } from './journal-entries.js';
import type { UpkeepCase } from './journal-upkeep-cases.js';

/** The part of a journal that these cases are about. A journal may leave it out, but never half of it. */
type FactJournal = Journal & Required<Pick<Journal, 'remember' | 'recall'>>;

const whereKept =
  (run: (journal: FactJournal) => Promise<void>) =>
  async (journal: Journal): Promise<void> => {
    if (keepsFacts(journal)) await run(journal);
  };

function keepsFacts(journal: Journal): journal is FactJournal {
  const has = [journal.remember, journal.recall].map((method) => method !== undefined);
  assertEqual(has[0], has[1], 'remember and recall: both or neither');
  return has[0] === true;
}

const fact = (key: string, value: ConversationFact['value'] = key, at = 1): ConversationFact => ({
  key,
  value,
  at,
});
const keysOf = ({ facts }: RecalledFacts): readonly string[] => facts.map(({ key }) => key);

/** What conversations know. */
export const FACT_CASES: readonly JournalCase[] = [
  {
    title: 'recalls what a conversation knows: the newest value of every key, in the order of remembering',
    run: whereKept(async (journal) => {
      assertEqual((await journal.recall('talk')).facts, [], 'nothing yet');
      await journal.remember('talk', [fact('a', { sha256: null }), fact('b', [1, 2])]);
      await journal.remember('other', [fact('a', 'elsewhere')]);
      await journal.remember('talk', [fact('a', { sha256: 'x' }, 2.5)]);
      const { facts } = await journal.recall('talk');
      assertEqual(facts, [fact('b', [1, 2]), fact('a', { sha256: 'x' }, 2.5)], 'facts');
      assertEqual((await journal.recall('other')).facts, [fact('a', 'elsewhere')], 'the other conversation');
      await journal.remember('talk', []);
      assertEqual((await journal.recall('none')).facts, [], 'no conversation');
    }),
  },
  {
    title: 'recalls only what was remembered since a mark, and nothing where a value stands already',
    run: whereKept(async (journal) => {
      await journal.remember('talk', [fact('a'), fact('b')]);
      const first = await journal.recall('talk');
      assertEqual((await journal.recall('talk', first.mark)).facts, [], 'nothing since');
      await journal.remember('talk', [fact('a', 'a', 7), fact('c')]);
      await journal.remember('other', [fact('d')]);
      const second = await journal.recall('talk', first.mark);
      assertEqual(keysOf(second), ['c'], 'what is new');
      await journal.remember('talk', [fact('b', 'other'), fact('b', 'b')]);
      const third = await journal.recall('talk', second.mark);
      assertEqual(third.facts, [fact('b')], 'a value that came back');
      assertEqual((await journal.recall('talk', third.mark)).facts, [], 'nothing more');
    }),
  },
  {
    title: 'remembers in the order in which it is asked, and keys of any characters',
    run: whereKept(async (journal) => {
      const keys = ['ä\0🎉', 'json:"x"', '\ud800', '', '__proto__'];
      const asked = keys.map((key) => journal.remember('c\ud800', [fact(key), fact('last', key)]));
      const { facts } = await journal.recall('c\ud800');
      await Promise.all(asked);
      assertEqual(facts, [...keys.map((key) => fact(key)), fact('last', '__proto__')], 'facts');
    }),
  },
];

export const SHARED_FACT_CASES: readonly SharedJournalCase[] = [
  {
    title: 'recalls in another journal what was remembered in this one',
    run: async (first, second) => {
      if (!keepsFacts(first) || !keepsFacts(second)) return;
      await first.remember('talk', [fact('a', 1), fact('b', 1)]);
      const { facts, mark } = await second.recall('talk');
      assertEqual(facts, [fact('a', 1), fact('b', 1)], 'facts');
      await second.remember('talk', [fact('a', 2)]);
      await first.remember('talk', [fact('b', 2)]);
      assertEqual((await second.recall('talk', mark)).facts, [fact('a', 2), fact('b', 2)], 'since the mark');
      assertEqual((await first.recall('talk')).facts, [fact('a', 2), fact('b', 2)], 'in the first');
    },
  },
];

export const FACT_UPKEEP_CASES: readonly UpkeepCase[] = [
  {
    title: 'prunes facts of conversations that are gone, and old values, never what a conversation knows',
    run: async (journal, { verify, prune }) => {
      if (!keepsFacts(journal)) return;
      for (const id of ['gone', 'stays', 'newest']) {
        const at = id === 'gone' ? 1 : 1_000;
        const [answer] = await journal.accept(batchEntry(id, [callEntry('x')], { conversation: id, at }));
        await journal.claim(answer?.key ?? '', WORKER, at);
        await journal.finish(answer?.key ?? '', successOf('x'), at);
      }
      await journal.remember('stays', [fact('a', 1), fact('b', 1)]);
      await journal.remember('stays', [fact('a', 2)]);
      await journal.remember('gone', [fact('a', 1), fact('b', 1)]);
      const { mark } = await journal.recall('stays');
      await prune(500);
      assertEqual((await journal.recall('stays')).facts, [fact('b', 1), fact('a', 2)], 'what stands');
      assertEqual(keysOf(await journal.recall('gone')).includes('a'), false, 'what is gone');
      assertEqual(await verify(), true, 'the rest');
      await journal.remember('stays', [fact('c', 3)]);
      assertEqual(keysOf(await journal.recall('stays', mark)), ['c'], 'a mark from before the pruning');
      assertEqual(await verify(), true, 'with what came after');
    },
  },
];
