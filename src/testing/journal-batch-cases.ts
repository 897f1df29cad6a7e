import type { BatchDecision, BatchEntry, CallEntry, CallPage, DecisionKind } from '../contract/journal.js';
import { isToolError } from '../errors/tool-error.js';
import type { JournalCase } from './describe-journal.js';
import {
  assertEqual,
  assertPresent,
  batchEntry,
  callEntry,
  OTHER_WORKER,
  successOf,
  WORKER,
} from './journal-entries.js';

/** Batches: their processes, messages and decisions. */
export const BATCH_CASES: readonly JournalCase[] = [
  {
    title: 'gives back who accepted a batch and who started its calls',
    run: async (journal) => {
      const acceptor = { ...WORKER, startTicks: 123_456, system: 'boot 4026531836' };
      const [first, second] = await journal.accept(
        batchEntry('b1', [callEntry('x'), callEntry('y')], { worker: acceptor }),
      );
      const queued = assertPresent(await journal.call(assertPresent(first, 'answer').key), 'call');
      assertEqual([queued.acceptedBy, queued.worker], [acceptor, undefined], 'of a queued call');
      const starter = { ...OTHER_WORKER, startTicks: 0, system: 'other' };
      await journal.claim(assertPresent(second, 'answer').key, starter, 1);
      const running = (await journal.unfinished())[1];
      assertEqual([running?.acceptedBy, running?.worker], [acceptor, starter], 'of a running call');
      await journal.accept(batchEntry('b2', [callEntry('z')], { worker: acceptor }));
      const workers = (await journal.batches()).map(({ worker }) => worker);
      assertEqual(workers, [acceptor, acceptor], 'of the batches');
    },
  },
  {
    title: 'lists batches with what they came with, newest first, filtered',
    run: async (journal) => {
      const message = { text: 'I shall look.\n'.repeat(8_000), model: 'm', provider: 'p' };
      const origin = { format: 'native', deep: [{ a: null }] };
      await journal.accept(batchEntry('b1', [callEntry('x')], { conversation: 'one', message, origin }));
      await journal.accept(batchEntry('b2', [], { conversation: 'two', attach: true, at: 5 }));
      await journal.accept(batchEntry('b3', [callEntry('x')], { conversation: 'one', attach: true }));
      await journal.accept(batchEntry('b4', [callEntry('x')], { conversation: 'one', attach: true }));
      const ids = async (filter?: Parameters<typeof journal.batches>[0]): Promise<readonly string[]> =>
        (await journal.batches(filter)).map(({ id }) => id);
      assertEqual(await ids(), ['b4', 'b3', 'b2', 'b1'], 'all');
      assertEqual(await ids({ conversation: 'one' }), ['b4', 'b3', 'b1'], 'of one conversation');
      assertEqual(await ids({ conversation: 'one', limit: 2 }), ['b4', 'b3'], 'the newest');
      assertEqual(await ids({ conversation: 'one', limit: 2, before: 'b3' }), ['b1'], 'the page after');
      assertEqual(await ids({ before: 'b9' }), [], 'before a batch that there is not');
      const [two, one] = await journal.batches({ before: 'b3' });
      assertEqual(two, { id: 'b2', conversation: 'two', attach: true, at: 5, size: 0 }, 'an empty batch');
      assertEqual([one?.message, one?.origin, one?.size], [message, origin, 1], 'what it came with');
    },
  },
  {
    title: 'lets a batch wait only while a call of it is not done, and once',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      assertEqual(await journal.decide('b1', decision('resume', 1)), false, 'before it waits');
      const asked = [decision('wait', 2), decision('wait', 3)].map((each) => journal.decide('b1', each));
      assertEqual(await Promise.all(asked), [true, false], 'two at once');
      await journal.finish(key, successOf('x'), 4, WORKER);
      assertEqual((await journal.call(key))?.decision, 'wait', 'what its call says');
      assertEqual((await journal.batches({ waiting: true })).length, 1, 'while it waits');
      const decided = [decision('discard', 5), decision('resume', 6)].map((each) =>
        journal.decide('b1', each),
      );
      assertEqual(await Promise.all(decided), [true, false], 'two that decide');
      assertEqual(await journal.decide('b1', decision('wait', 7)), false, 'once all is done');
      assertEqual(await journal.decisions('b1'), [decision('wait', 2), decision('discard', 5)], 'decisions');
      assertEqual(await journal.batches({ waiting: true }), [], 'what waits');
      assertEqual((await journal.batches())[0]?.decision, 'discard', 'the last decision');
      assertEqual((await journal.call(key))?.decision, 'discard', 'what its call says');
    },
  },
  {
    title: 'finds batches by the beginning of their id, newest first, and no others',
    run: async (journal) => {
      for (const name of ['batch-1', 'batch-10', 'batch-2', 'Batch-1', 'bat%h-1'])
        await journal.accept(batchEntry(name, [callEntry('x')], { conversation: name }));
      const beginning = async (prefix: string, limit?: number): Promise<readonly string[]> => {
        const filter = limit === undefined ? { prefix } : { prefix, limit };
        return (await journal.batches(filter)).map(({ id }) => id);
      };
      assertEqual(await beginning('batch-'), ['batch-2', 'batch-10', 'batch-1'], 'several');
      assertEqual(await beginning('batch-', 2), ['batch-2', 'batch-10'], 'at most two');
      assertEqual(await beginning('batch-1'), ['batch-10', 'batch-1'], 'an id that another begins with');
      assertEqual(await beginning('bat%'), ['bat%h-1'], 'no wildcard');
      assertEqual(await beginning('other'), [], 'none');
    },
  },
  {
    title: 'finds what waits in one conversation',
    run: async (journal) => {
      for (const name of ['one', 'two', 'three']) {
        await journal.accept(batchEntry(name, [callEntry('x')], { conversation: name }));
        if (name !== 'three') await journal.decide(name, decision('wait', 1));
      }
      const waiting = async (conversation?: string): Promise<readonly string[]> => {
        const filter = conversation === undefined ? {} : { conversation };
        return (await journal.batches({ ...filter, waiting: true })).map(({ id }) => id);
      };
      assertEqual(await waiting(), ['two', 'one'], 'all');
      assertEqual(await waiting('one'), ['one'], 'in one');
      assertEqual(await waiting('three'), [], 'in three');
    },
  },
  {
    title: 'accepts nothing new in a conversation that waits, and answers what it knows',
    run: async (journal) => {
      const accept = (id: string, calls: readonly CallEntry[], options: Partial<BatchEntry> = {}): unknown =>
        Promise.resolve(journal.accept(batchEntry(id, calls, { attach: true, ...options }))).then((answers) =>
          answers.map((answer) =>
            answer.kind === 'waits' ? [answer.kind, answer.batchId, answer.why] : answer.kind,
          ),
        );
      const [x, y] = [callEntry('x'), callEntry('y')];
      await accept('b1', [x, y]);
      await journal.finish('b1/0', successOf('x'), 1, WORKER);
      await journal.decide('b1', { ...decision('wait', 2), data: { why: 'recovery' } });
      const waits = ['waits', 'b1', 'recovery'];
      const calls = [x, callEntry('z'), y, x, callEntry('y', { other: 1 })];
      assertEqual(await accept('b2', calls), ['known', waits, 'known', waits, waits], 'while it waits');
      assertEqual(await journal.batch('b2'), [], 'what is recorded of it');
      assertEqual(await accept('b3', [x], { conversation: 'other' }), ['fresh'], 'in another conversation');
      assertEqual(
        await accept('b4', [callEntry('z')], { attach: false }),
        ['fresh'],
        'where nothing attaches',
      );
      await journal.decide('b1', decision('resume', 3));
      assertEqual(await accept('b2', [x, callEntry('z')]), ['known', 'fresh'], 'once it is decided');
      await journal.decide('b2', decision('wait', 4));
      assertEqual(
        await accept('b5', [callEntry('n')]),
        [['waits', 'b2', undefined]],
        'where the decision says nothing',
      );
    },
  },
  {
    title: 'refuses a decision about a batch that it does not hold',
    run: async (journal) => {
      let code: string | undefined;
      try {
        await journal.decide('b1', decision('resume', 1));
      } catch (error) {
        code = isToolError(error) ? error.code : undefined;
      }
      assertEqual(code, 'journal_unavailable', 'refusal');
      assertEqual(await journal.decisions('b1'), [], 'decisions');
    },
  },
];

function decision(kind: DecisionKind, at: number): BatchDecision {
  return { kind, at, data: { by: 'a person', at } };
}

/** Unfinished calls, which a restart reads first. */
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
      await journal.finish(assertPresent(first, 'answer').key, successOf('a'), 1, WORKER);
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
      await journal.finish('b1/1', successOf('b'), 1, WORKER);
      assertEqual(await ids({ limit: 1, after: 'b1/1' }), ['c'], 'behind one that is done');
      assertEqual(await ids({ limit: 9, after: 'b1/0' }, 'one'), [], 'of one conversation');
      assertEqual(await ids({ limit: 9, after: 'b2/1' }), [], 'behind the last');
    },
  },
];
