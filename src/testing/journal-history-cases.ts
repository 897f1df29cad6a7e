import { assertEqual, assertPresent } from './assert-equal.js';
import type { JournalCase } from './describe-journal.js';
import { batchEntry, callEntry } from './journal-entries.js';

/** Messages in order with batches, and contents by their hash. */
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
