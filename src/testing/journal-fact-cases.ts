import type { ConversationFact, Journal, RecalledFacts } from '../contract/journal.js';
import type { JournalCase, SharedJournalCase } from './describe-journal.js';
import { assertEqual, assertPresent, batchEntry, callEntry, successOf, WORKER } from './journal-entries.js';
import type { UpkeepCase } from './journal-upkeep-cases.js';

/** The operations under test. A journal implements both or neither. */
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

/** Facts of conversations. */
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
        await journal.finish(answer?.key ?? '', successOf('x'), at, WORKER);
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

/** Messages in order with batches, and contents by hash. */
export const HISTORY_CASES: readonly JournalCase[] = [
  {
    title: 'keeps the messages of a conversation in order with its batches',
    run: async (journal) => {
      const say = (conversation: string, text: string): unknown =>
        journal.message(conversation, { role: 'user', content: [{ type: 'text', text }], at: 7 });
      await say('talk', 'one');
      await say('other', 'elsewhere');
      await journal.accept(
        batchEntry('b1', [callEntry('x')], { conversation: 'talk', message: { text: 'ok' } }),
      );
      const asked = [say('talk', 'two'), say('talk', 'three')];
      await Promise.all([...asked, journal.accept(batchEntry('b2', [], { conversation: 'talk' }))]);
      await say('talk', 'four');
      const history = await journal.history('talk');
      const told = history.map((entry) =>
        entry.kind === 'batch' ? [entry.id, entry.message?.text] : entry.content,
      );
      const text = (said: string): unknown => [{ type: 'text', text: said }];
      assertEqual(
        told,
        [text('one'), ['b1', 'ok'], text('two'), text('three'), ['b2', undefined], text('four')],
        'history',
      );
      assertEqual(history[0], { kind: 'message', role: 'user', content: text('one'), at: 7 }, 'a message');
      assertEqual((await journal.history('other')).length, 1, 'the other conversation');
      assertEqual(await journal.history('none'), [], 'no conversation');
    },
  },
  {
    title: 'keeps a message of any size and any characters',
    run: async (journal) => {
      for (const content of ['ä\0🎉'.repeat(40_000), '', null, 0, { json: 'json:"x"' }]) {
        await journal.message('c\ud800', { role: 'a\0', content, at: 1 });
      }
      const contents = (await journal.history('c\ud800')).map((entry) =>
        entry.kind === 'message' ? [entry.role, entry.content] : [],
      );
      const expected = ['ä\0🎉'.repeat(40_000), '', null, 0, { json: 'json:"x"' }];
      assertEqual(
        contents,
        expected.map((content) => ['a\0', content]),
        'contents',
      );
    },
  },
  {
    title: 'keeps bytes under the hash of their content, equal ones once',
    run: async (journal) => {
      const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
      const [one, other, none] = await Promise.all([
        journal.keep(bytes),
        journal.keep(bytes.slice()),
        journal.keep(new Uint8Array(0)),
      ]);
      assertEqual(one, other, 'hashes of equal bytes');
      assertEqual(none, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'of nothing');
      const kept = assertPresent(await journal.kept(assertPresent(one, 'hash')), 'what was kept');
      assertEqual(Buffer.from(kept).equals(bytes), true, 'content');
      assertEqual((await journal.kept(assertPresent(none, 'hash')))?.length, 0, 'nothing');
      assertEqual(await journal.kept('0'.repeat(64)), undefined, 'what was never kept');
      assertEqual(await journal.kept(''), undefined, 'no hash');
    },
  },
];
