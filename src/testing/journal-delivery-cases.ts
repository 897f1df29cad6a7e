import type { Acceptance } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { JournalCase } from './describe-journal.js';
import {
  assertEqual,
  assertPresent,
  batchEntry,
  callEntry,
  failureOf,
  madeUpEntry,
  successOf,
  WORKER,
} from './journal-entries.js';

const ATTACH = { attach: true } as const;

/** Calls that are delivered more than once. */
export const DELIVERY_CASES: readonly JournalCase[] = [
  {
    title: 'takes every delivery as a call of its own where the conversation has no name',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x')])));
      await journal.finish(first.key, successOf('x'), 1, WORKER);
      const second = one(await journal.accept(batchEntry('b2', [callEntry('x')])));
      assertEqual(second.kind, 'fresh', 'second delivery');
      assertEqual(await journal.claim(second.key, WORKER, 1), true, 'its claim');
      // A delivery that attaches does not attach to these either.
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
        ['done', () => journal.finish(first.key, successOf('x'), 2, WORKER)],
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
      assertEqual(
        (await journal.call(other.key))?.disposition,
        'pre_resolved',
        'whether a worker may run it',
      );
      assertEqual(await journal.finish(other.key, failureOf('x'), 1, WORKER), 'recorded', 'its answer');
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
    title: 'takes a made-up id as the same call only within its turn',
    run: async (journal) => {
      const accept = async (id: string, turn?: string, args?: JsonObject): Promise<Acceptance> =>
        one(await journal.accept(batchEntry(id, [madeUpEntry('call_0', turn, args)], ATTACH)));
      const first = await accept('b1', 't1');
      await journal.finish(first.key, successOf('call_0', 'one'), 1, WORKER);
      const second = await accept('b2', 't2');
      await journal.finish(second.key, successOf('call_0', 'two'), 2, WORKER);
      const own = one(await journal.accept(batchEntry('b3', [callEntry('call_0')], ATTACH)));
      assertEqual([first.kind, second.kind, own.kind], ['fresh', 'fresh', 'fresh'], 'kinds');
      for (const [id, turn, entry] of [
        ['again 1', 't1', first],
        ['again 2', 't2', second],
      ] as const) {
        const again = await accept(id, turn);
        assertEqual([again.kind, again.key], ['known', entry.key], `the same delivery of ${turn}`);
        assertEqual((await journal.find('conversation', 'call_0', turn))?.key, entry.key, `found in ${turn}`);
      }
      assertEqual((await accept('b4', 't1', { other: 1 })).kind, 'conflict', 'with other arguments');
      assertEqual((await journal.find('conversation', 'call_0'))?.key, own.key, 'found without a turn');
      assertEqual(await journal.find('conversation', 'call_0', 't3'), undefined, 'found in another turn');
      assertEqual((await journal.find(undefined, 'call_0', 't1'))?.batchId, 'b4', 'found anywhere');
      const record = await journal.call(first.key);
      assertEqual([record?.callId, record?.madeUp, record?.turn], ['call_0', true, 't1'], 'its record');
    },
  },
  {
    title: 'attaches nothing to a made-up id without a turn, and conflicts with nothing',
    run: async (journal) => {
      const keys = new Set<string>();
      for (const [id, args] of [
        ['b1', { a: 1 }],
        ['b2', { a: 1 }],
        ['b3', { a: 2 }],
      ] as const) {
        const entry = madeUpEntry('call_0', undefined, args);
        const answer = one(await journal.accept(batchEntry(id, [entry], ATTACH)));
        assertEqual(answer.kind, 'fresh', id);
        keys.add(answer.key);
        await journal.finish(answer.key, successOf('call_0'), 1, WORKER);
      }
      assertEqual(keys.size, 3, 'calls of their own');
      const own = one(await journal.accept(batchEntry('b4', [callEntry('call_0', { a: 1 })], ATTACH)));
      assertEqual(own.kind, 'fresh', "an id of the provider's own");
      const record = await journal.call([...keys][0] ?? '');
      assertEqual([record?.madeUp, record !== undefined && 'turn' in record], [true, false], 'its record');
      assertEqual((await journal.find('conversation', 'call_0'))?.key, own.key, 'found');
    },
  },
  {
    title: 'keeps turns apart whose names run together, and ids that hold anything',
    run: async (journal) => {
      const identities = [
        ['1', '2 x'],
        ['1 2', ' x'],
        ['12', 'x'],
        ['', '12x'],
        ['null', 'x'],
        ['"12"', 'x'],
        ['a\0b', 'x'],
        ['a', '\0bx'],
      ] as const;
      for (const [at, [turn, callId]] of identities.entries()) {
        const accept = async (id: string): Promise<Acceptance> =>
          one(await journal.accept(batchEntry(id, [madeUpEntry(callId, turn)], ATTACH)));
        assertEqual((await accept(`b${at}`)).kind, 'fresh', `${turn} ${callId}`);
        assertEqual((await accept(`again ${at}`)).kind, 'known', `${turn} ${callId} again`);
        assertEqual((await journal.find('conversation', callId, turn))?.batchId, `b${at}`, 'found');
      }
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
    title: 'takes a call without a decision as a new one, which takes over its name',
    run: async (journal) => {
      const accept = async (id: string, args?: JsonObject): Promise<Acceptance> =>
        one(await journal.accept(batchEntry(id, [callEntry('x', args)], ATTACH)));
      const first = await accept('b1');
      await journal.finish(first.key, failureOf('x', 'approval_unavailable'), 1, WORKER);
      assertEqual((await accept('b2', { other: 1 })).kind, 'conflict', 'with other arguments');
      const again = await accept('b3');
      assertEqual(again.kind, 'fresh', 'the same again');
      assertEqual((await journal.find('conversation', 'x'))?.key, again.key, 'what the name finds');
      assertEqual(await journal.claim(again.key, WORKER, 2), true, 'its claim');
      assertEqual((await accept('b4')).key, again.key, 'a delivery while it runs');
      await journal.finish(again.key, successOf('x'), 3, WORKER);
      const last = await accept('b5');
      assertEqual([last.kind, last.key], ['known', again.key], 'once it is answered');
      assertEqual((await journal.call(first.key))?.result?.error?.code, 'approval_unavailable', 'the first');
    },
  },
  {
    title: 'takes no other refusal as open',
    run: async (journal) => {
      const first = one(await journal.accept(batchEntry('b1', [callEntry('x')], ATTACH)));
      await journal.finish(first.key, failureOf('x', 'user_denied'), 1, WORKER);
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
