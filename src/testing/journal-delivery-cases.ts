import type { Acceptance } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { assertEqual, assertPresent } from './assert-equal.js';
import type { JournalCase } from './describe-journal.js';
import { batchEntry, callEntry, failureOf, successOf, WORKER } from './journal-entries.js';

const ATTACH = { attach: true } as const;

/** Calls that are delivered more than once. */
export const DELIVERY_CASES: readonly JournalCase[] = [
  {
    title: 'takes every delivery as a call of its own where the conversation has no name',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x')])));
      await journal.finish(first.key, successOf('x'), 1);
      const second = one(await journal.accept(batchEntry('b2', [callEntry('x')])));
      assertEqual(second.kind, 'fresh', 'second delivery');
      assertEqual(await journal.claim(second.key, WORKER, 1), true, 'its claim');
      // Nor does a delivery that attaches attach to these.
      assertEqual(
        one(await journal.accept(batchEntry('b3', [callEntry('x')], ATTACH))).kind,
        'fresh',
        'third',
      );
      assertEqual((await journal.find('conversation', 'x'))?.key, first.key, 'the first delivery');
    },
  },
  {
    title: 'attaches a second delivery with the same arguments, whatever became of the first',
    run: async (journal) => {
      const args = { path: 'a.txt', options: { deep: [1, 2], mode: 'w' } };
      const turned = { options: { mode: 'w', deep: [1, 2] }, path: 'a.txt' };
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x', args)], ATTACH)));
      for (const [id, change] of [
        ['queued', () => undefined],
        ['running', () => journal.claim(first.key, WORKER, 1)],
        ['done', () => journal.finish(first.key, successOf('x'), 2)],
      ] as const) {
        await change();
        const again = one(await journal.accept(batchEntry(id, [callEntry('x', turned)], ATTACH)));
        if (again.kind !== 'known') throw new Error(`expected a known call, got ${again.kind}`);
        assertEqual([again.key, again.record.state], [first.key, id], 'what became of it');
        assertEqual(again.record, await journal.call(first.key), 'record');
        assertEqual(await journal.batch(id), [again.record], 'the second batch');
      }
      assertEqual(await journal.unfinished(), [], 'unfinished');
    },
  },
  {
    title: 'answers a second delivery with other arguments as a conflict that can be finished',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x', { a: 1 })], ATTACH)));
      const other = one(await journal.accept(batchEntry('b2', [callEntry('x', { a: 2 })], ATTACH)));
      if (other.kind !== 'conflict') throw new Error(`expected a conflict, got ${other.kind}`);
      assertEqual(other.record, await journal.call(first.key), 'record');
      assertEqual(other.key === first.key, false, 'one key for both');
      assertEqual(await journal.finish(other.key, failureOf('x'), 1), 'recorded', 'its answer');
      assertEqual((await journal.call(other.key))?.result, failureOf('x'), 'its result');
      assertEqual((await journal.call(first.key))?.state, 'queued', 'the first call');
      assertEqual((await journal.find('conversation', 'x'))?.key, first.key, 'the first delivery');
      const third = one(await journal.accept(batchEntry('b3', [callEntry('x', { a: 2 })], ATTACH)));
      assertEqual(third.kind, 'conflict', 'the same again');
    },
  },
  {
    title: 'takes another tool under the same id as a conflict',
    run: async (journal) => {
      await journal.accept(batchEntry('b1', [callEntry('x')], ATTACH));
      const other = { ...callEntry('x'), toolName: 'delete_file' };
      assertEqual(one(await journal.accept(batchEntry('b2', [other], ATTACH))).kind, 'conflict', 'kind');
    },
  },
  {
    title: 'keeps conversations apart',
    run: async (journal) => {
      const accept = async (id: string, conversation: string, callId: string): Promise<string> =>
        one(await journal.accept(batchEntry(id, [callEntry(callId)], { ...ATTACH, conversation }))).kind;
      assertEqual(await accept('b1', 'one', 'x'), 'fresh', 'in one');
      assertEqual(await accept('b2', 'two', 'x'), 'fresh', 'in two');
      assertEqual(await accept('b3', 'onex', ''), 'fresh', 'names that run together');
      assertEqual(await accept('b4', 'one', 'x'), 'known', 'in one again');
      assertEqual((await journal.find('two', 'x'))?.batchId, 'b2', 'found in two');
      assertEqual(await journal.find('three', 'x'), undefined, 'found in three');
    },
  },
  {
    title: 'finds the newest call of an id that was started, whatever the conversation',
    run: async (journal) => {
      const keys: string[] = [];
      for (const conversation of ['one', 'two', 'three']) {
        keys.push(
          one(await journal.accept(batchEntry(conversation, [callEntry('x')], { conversation }))).key,
        );
      }
      const found = async (): Promise<string | undefined> => (await journal.find(undefined, 'x'))?.key;
      assertEqual(await found(), keys[2], 'before one is started');
      await journal.claim(keys[0] ?? '', WORKER, 1);
      assertEqual(await found(), keys[0], 'once one is');
      await journal.claim(keys[1] ?? '', WORKER, 2);
      assertEqual(await found(), keys[1], 'once another is');
      assertEqual(await journal.find(undefined, 'y'), undefined, 'no such call');
    },
  },
  {
    title: 'answers an id that comes twice in a batch: the first counts, the others are conflicts',
    run: async (journal) => {
      for (const attach of [true, false]) {
        const conversation = `attach ${attach}`;
        const calls = [callEntry('a'), callEntry('a'), callEntry('b'), callEntry('a', { other: 1 })];
        const answers = await journal.accept(batchEntry(`b ${attach}`, calls, { attach, conversation }));
        assertEqual(
          answers.map(({ kind }) => kind),
          ['fresh', 'conflict', 'fresh', 'conflict'],
          'kinds',
        );
        assertEqual(new Set(answers.map(({ key }) => key)).size, 4, 'distinct keys');
        for (const answer of answers) {
          if (answer.kind === 'conflict')
            assertEqual(answer.record.key, answers[0]?.key, 'the first delivery');
        }
        assertEqual((await journal.batch(`b ${attach}`)).length, 4, 'calls of the batch');
        assertEqual((await journal.unfinished(conversation)).length, 4, 'unfinished');
      }
    },
  },
  {
    title: 'answers an id that is known and comes twice: the first attaches, the others are conflicts',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('a')], ATTACH)));
      const answers = await journal.accept(
        batchEntry('b2', [callEntry('a'), callEntry('a'), callEntry('b')], ATTACH),
      );
      assertEqual(
        answers.map(({ kind }) => kind),
        ['known', 'conflict', 'fresh'],
        'kinds',
      );
      const calls = await journal.batch('b2');
      assertEqual(
        calls.map(({ key }) => key),
        answers.map(({ key }) => key),
        'keys of the batch',
      );
      assertEqual(calls[0]?.key, first.key, 'the first delivery');
    },
  },
  {
    title: 'takes a call that nobody decided about as a new one, which takes over its name',
    run: async (journal) => {
      const accept = async (id: string, args?: JsonObject): Promise<Acceptance> =>
        one(await journal.accept(batchEntry(id, [callEntry('x', args)], ATTACH)));
      const first = await accept('b1');
      await journal.finish(first.key, failureOf('x', 'approval_unavailable'), 1);
      assertEqual((await accept('b2', { other: 1 })).kind, 'conflict', 'with other arguments');
      const again = await accept('b3');
      assertEqual(again.kind, 'fresh', 'the same again');
      assertEqual((await journal.find('conversation', 'x'))?.key, again.key, 'what the name finds');
      assertEqual(await journal.claim(again.key, WORKER, 2), true, 'its claim');
      assertEqual((await accept('b4')).key, again.key, 'a delivery while it runs');
      await journal.finish(again.key, successOf('x'), 3);
      const last = await accept('b5');
      assertEqual([last.kind, last.key], ['known', again.key], 'once it is answered');
      assertEqual((await journal.call(first.key))?.result?.error?.code, 'approval_unavailable', 'the first');
    },
  },
  {
    title: 'takes no other refusal as open',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x')], ATTACH)));
      await journal.finish(first.key, failureOf('x', 'user_denied'), 1);
      assertEqual(
        one(await journal.accept(batchEntry('b2', [callEntry('x')], ATTACH))).kind,
        'known',
        'kind',
      );
    },
  },
  {
    title: 'does not look at what a caller does to its arguments later',
    run: async (journal) => {
      const args = { list: [1, 2] };
      await journal.accept(batchEntry('b1', [callEntry('x', args)], ATTACH));
      args.list.push(3);
      const again = one(await journal.accept(batchEntry('b2', [callEntry('x', { list: [1, 2] })], ATTACH)));
      assertEqual(again.kind, 'known', 'kind');
    },
  },
];

function one(answers: readonly Acceptance[]): Acceptance {
  assertEqual(answers.length, 1, 'number of answers');
  return assertPresent(answers[0], 'answer');
}
