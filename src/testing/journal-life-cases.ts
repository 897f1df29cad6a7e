import { isToolError } from '../errors/tool-error.js';
import type { JournalCase } from './describe-journal.js';
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

/** The life of a call: accepted, claimed, finished, and looked up. */
export const LIFE_CASES: readonly JournalCase[] = [
  {
    title: 'answers a batch call by call, in order, each with a key of its own',
    run: async (journal) => {
      const answers = await journal.accept(
        batchEntry('b1', [callEntry('x'), callEntry('y'), callEntry('z')]),
      );
      assertEqual(
        answers.map(({ kind }) => kind),
        ['fresh', 'fresh', 'fresh'],
        'kinds',
      );
      const keys = answers.map(({ key }) => key);
      assertEqual(new Set(keys).size, 3, 'distinct keys');
      const calls = await journal.batch('b1');
      assertEqual(
        calls.map(({ key }) => key),
        keys,
        'keys of the batch',
      );
      assertEqual(
        calls.map(({ index, callId }) => [index, callId]),
        [
          [0, 'x'],
          [1, 'y'],
          [2, 'z'],
        ],
        'order',
      );
    },
  },
  {
    title:
      'gives back the content of a result, bytes as bytes, also where the same are there twice or it came too late',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const result = pictureOf('x', Uint8Array.of(0, 255, 1));
      await journal.finish(key, result, 1, WORKER);
      assertEqual((await journal.call(key))?.result, result, 'result');
      assertEqual(await journal.finish(key, result, 2, WORKER), 'late', 'a second answer');
      const late = (await journal.notes(key)).find(({ kind }) => kind === 'late_result');
      JSON.stringify(assertPresent(late, 'what came too late').data);
      assertEqual((await journal.call(key))?.result, result, 'the first result');
    },
  },
  {
    title: 'gives back everything that was recorded of a call',
    run: async (journal) => {
      const entry = callEntry('x', { text: 'Größe 🎉', list: [1, { deep: null }], flag: true });
      const batch = batchEntry('b1', [entry], { conversation: 'talk', attach: true, at: 1000 });
      const [answer] = await journal.accept(batch);
      const { key } = assertPresent(answer, 'answer');
      const queued = {
        ...entry,
        key,
        batchId: 'b1',
        index: 0,
        conversation: 'talk',
        attach: true,
        state: 'queued',
        acceptedAt: 1000,
      };
      assertEqual(await journal.call(key), queued, 'queued');
      await journal.claim(key, WORKER, 2000);
      const running = { ...queued, state: 'running', worker: WORKER, startedAt: 2000 };
      assertEqual(await journal.call(key), running, 'running');
      const result = failureOf('x');
      await journal.finish(key, result, 3000, WORKER);
      assertEqual(await journal.call(key), { ...running, state: 'done', result, finishedAt: 3000 }, 'done');
    },
  },
  {
    title: 'keeps ids and names of any characters',
    run: async (journal) => {
      for (const [index, odd] of [
        'a\0b',
        '\ud800',
        'json:x',
        'json:"x"',
        '',
        '🎉',
        'a/b',
        "'; --",
      ].entries()) {
        const entry = { ...callEntry(odd), toolName: odd, reason: odd };
        const batch = batchEntry(`b${index}/${odd}`, [entry], { conversation: `c${odd}`, attach: true });
        const [answer] = await journal.accept(batch);
        const { key } = assertPresent(answer, 'answer');
        const found = assertPresent(await journal.find(`c${odd}`, odd), `call ${JSON.stringify(odd)}`);
        assertEqual([found.key, found.callId, found.toolName, found.reason], [key, odd, odd, odd], 'names');
        assertEqual(found.batchId, batch.id, 'batch');
        assertEqual(await journal.claim(key, WORKER, 1), true, 'claim');
        assertEqual((await journal.batch(batch.id)).length, 1, 'calls of the batch');
      }
    },
  },
  {
    title: 'keeps a result of any size',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const result = successOf('x', 'äöü\n'.repeat(60_000));
      await journal.finish(key, result, 1, WORKER);
      assertEqual((await journal.call(key))?.result, result, 'result');
      await journal.finish(key, result, 2, WORKER);
      assertEqual((await journal.notes(key))[0]?.data, { ...result }, 'late result');
    },
  },
  {
    title: 'lets one claim of a key win, also when many ask at once',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const asked = Array.from({ length: 20 }, (_, index) => journal.claim(key, WORKER, index));
      const won = await Promise.all(asked);
      assertEqual(won, [true, ...Array.from({ length: 19 }, () => false)], 'claims');
      assertEqual(await journal.claim(key, OTHER_WORKER, 99), false, 'a later claim');
      assertEqual((await journal.call(key))?.startedAt, 0, 'start');
    },
  },
  {
    title: 'gives no claim of a call that is done, nor of a key that it never gave out',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      await journal.finish(key, failureOf('x'), 1, WORKER);
      assertEqual(await journal.claim(key, WORKER, 2), false, 'claim of a done call');
      assertEqual((await journal.call(key))?.worker, undefined, 'worker');
      for (const unknown of ['', 'nonsense', `${key}0`, 'b1/1', 'b1/-1', 'b1/01', 'b2/0']) {
        assertEqual(await journal.claim(unknown, WORKER, 2), false, `claim of "${unknown}"`);
        assertEqual(await journal.call(unknown), undefined, `call "${unknown}"`);
        assertEqual(await journal.notes(unknown), [], `notes of "${unknown}"`);
      }
    },
  },
  {
    title: 'keeps the first result and notes the later ones',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      await journal.claim(key, WORKER, 1);
      const answers = await Promise.all([
        journal.finish(key, failureOf('x'), 2, WORKER),
        journal.finish(key, successOf('x', 'second'), 3, WORKER),
        journal.finish(key, successOf('x', 'third'), 4, WORKER),
      ]);
      assertEqual(answers, ['recorded', 'late', 'late'], 'answers');
      const call = await journal.call(key);
      assertEqual([call?.result, call?.finishedAt], [failureOf('x'), 2], 'result');
      assertEqual(
        await journal.notes(key),
        [
          { kind: 'late_result', data: { ...successOf('x', 'second') }, at: 3 },
          { kind: 'late_result', data: { ...successOf('x', 'third') }, at: 4 },
        ],
        'notes',
      );
    },
  },
  {
    title: 'keeps notes in order, from any state',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const notes = [
        { kind: 'approval', data: { decision: 'approve' }, at: 1 },
        { kind: 'intent', data: { path: 'a.txt' }, at: 2 },
        { kind: 'process', data: { pid: 1, nested: [{ a: null }] }, at: 3 },
      ] as const;
      await journal.note(key, notes[0]);
      await journal.claim(key, WORKER, 2);
      await journal.note(key, notes[1]);
      await journal.finish(key, successOf('x'), 3, WORKER);
      await journal.note(key, notes[2]);
      assertEqual(await journal.notes(key), notes, 'notes');
    },
  },
  {
    title: 'lets operations take effect in the order they were asked for',
    run: async (journal) => {
      const entries = Array.from({ length: 50 }, (_, index) => callEntry(`x${index}`));
      const answers = await journal.accept(batchEntry('b1', entries));
      const order: string[] = [];
      const say = async (what: string, done: unknown): Promise<unknown> => {
        const answer = await done;
        order.push(what);
        return answer;
      };
      const asked: Promise<unknown>[] = [];
      const expected: string[] = [];
      for (const { key } of answers) {
        asked.push(say(`claim ${key}`, journal.claim(key, WORKER, 1)));
        asked.push(
          say(
            `read ${key}`,
            Promise.resolve(journal.call(key)).then((call) => call?.state),
          ),
        );
        asked.push(say(`finish ${key}`, journal.finish(key, successOf('x'), 2, WORKER)));
        expected.push(`claim ${key}`, `finish ${key}`);
      }
      const values = await Promise.all(asked);
      assertEqual(
        values,
        answers.flatMap(() => [true, 'running', 'recorded']),
        'answers',
      );
      assertEqual(
        order.filter((what) => !what.startsWith('read')),
        expected,
        'order of answers',
      );
    },
  },
  {
    title: 'refuses a batch id that it holds, and nothing else with it',
    run: async (journal) => {
      const first = journal.accept(batchEntry('b1', [callEntry('x')]));
      const refused = refusal(() => journal.accept(batchEntry('b1', [callEntry('y')])));
      const third = journal.accept(batchEntry('b2', [callEntry('z')]));
      assertEqual((await first).length, 1, 'the first batch');
      assertEqual(await refused, 'journal_unavailable', 'the second batch');
      assertEqual((await third).length, 1, 'the third batch');
      assertEqual(
        (await journal.unfinished()).map(({ callId }) => callId),
        ['x', 'z'],
        'calls',
      );
    },
  },
  {
    title: 'refuses a note of a key that it never gave out',
    run: async (journal) => {
      const note = { kind: 'intent', data: {}, at: 1 } as const;
      assertEqual(await refusal(() => journal.note('b1/0', note)), 'journal_unavailable', 'refusal');
    },
  },
  {
    title: 'accepts an empty batch',
    run: async (journal) => {
      assertEqual(await journal.accept(batchEntry('b1', [])), [], 'answers');
      const [answer] = await journal.accept(batchEntry('b2', [callEntry('x')]));
      assertEqual(await journal.batch('b1'), [], 'calls of the empty batch');
      assertEqual(await journal.claim(assertPresent(answer, 'answer').key, WORKER, 1), true, 'claim');
    },
  },
  {
    title: 'waits in sync for all that was asked for',
    run: async (journal) => {
      let accepted = false;
      const asked = Promise.resolve(journal.accept(batchEntry('b1', [callEntry('x')]))).then(() => {
        accepted = true;
      });
      await journal.sync();
      await asked;
      assertEqual(accepted, true, 'accepted');
      await journal.sync();
    },
  },
  {
    title: 'closes twice, writes what is pending, and refuses everything afterwards',
    run: async (journal) => {
      const [answer] = await journal.accept(batchEntry('b1', [callEntry('x')]));
      const { key } = assertPresent(answer, 'answer');
      const pending = journal.claim(key, WORKER, 1);
      await journal.close();
      await journal.close();
      assertEqual(await pending, true, 'the claim before close');
      const operations: readonly (() => unknown)[] = [
        () => journal.accept(batchEntry('b2', [])),
        () => journal.claim(key, WORKER, 1),
        () => journal.note(key, { kind: 'intent', data: {}, at: 1 }),
        () => journal.finish(key, successOf('x'), 1, WORKER),
        () => journal.sync(),
        () => journal.call(key),
        () => journal.find('conversation', 'x'),
        () => journal.batch('b1'),
        () => journal.unfinished(),
        () => journal.notes(key),
      ];
      for (const operation of operations) {
        assertEqual(await refusal(operation), 'journal_unavailable', String(operation));
      }
    },
  },
];

/** The error code that an operation throws or rejects with. */
async function refusal(operation: () => unknown): Promise<string> {
  try {
    await operation();
  } catch (error) {
    return isToolError(error) ? error.code : String(error);
  }
  return 'nothing was refused';
}
