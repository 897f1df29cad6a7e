import type { BatchEntry, Journal, Placement, SessionWorker } from '../contract/journal.js';
import type { JournalCase } from './describe-journal.js';
import {
  assertEqual,
  assertPresent,
  batchEntry,
  callEntry,
  failureOf,
  successOf,
  WORKER,
} from './journal-entries.js';

type Sessions = Journal & Required<Pick<Journal, 'renew' | 'reap' | 'sessions'>>;

const FIRST: SessionWorker = { ...WORKER, epoch: 1 };
const SECOND: SessionWorker = { ...WORKER, epoch: 2 };
const OTHER: SessionWorker = { id: 'worker-9', pid: 9, startedAt: 9, epoch: 1 };

function hasSessions(journal: Journal): journal is Sessions {
  return journal.renew !== undefined && journal.reap !== undefined && journal.sessions !== undefined;
}

function withSessions(run: (journal: Sessions) => Promise<void>): JournalCase['run'] {
  return (journal) => (hasSessions(journal) ? run(journal) : Promise.resolve());
}

async function accept(journal: Journal, id: string, options: Partial<BatchEntry> = {}): Promise<string> {
  const [answer] = await journal.accept(batchEntry(id, [callEntry(id)], options));
  return assertPresent(answer, 'answer').key;
}

const keysOf = (records: readonly { readonly key: string }[] | undefined): readonly string[] | undefined =>
  records?.map(({ key }) => key);

/** Sessions of workers, and their meaning for claims. */
const WORKER_CASES: readonly JournalCase[] = [
  {
    title: 'counts the beats of a session, and lists it with its offer',
    run: withSessions(async (journal) => {
      assertEqual(await journal.sessions(), [], 'at first');
      assertEqual(await journal.renew(FIRST, 10), { beat: 1, cancelled: [] }, 'the first beat');
      const offer = { labels: ['gpu'], roots: ['r1'] };
      assertEqual(await journal.renew(FIRST, 20, offer), { beat: 2, cancelled: [] }, 'the second');
      await journal.renew(OTHER, 30);
      const sessions = [...(await journal.sessions())].sort((one, other) => other.beat - one.beat);
      assertEqual(
        sessions,
        [
          { worker: FIRST, beat: 2, ...offer },
          { worker: OTHER, beat: 1 },
        ],
        'sessions',
      );
    }),
  },
  {
    title: 'gives a worker with an epoch a claim only in its session, and keeps the epoch with the call',
    run: withSessions(async (journal) => {
      const key = await accept(journal, 'b1');
      assertEqual(await journal.claim(key, FIRST, 1), false, 'before the session begins');
      await journal.renew(FIRST, 2);
      assertEqual(await journal.claim(key, SECOND, 3), false, 'in a session that has not begun');
      assertEqual(await journal.claim(key, FIRST, 4), true, 'in the session');
      assertEqual((await journal.call(key))?.worker, FIRST, 'the worker');
      assertEqual(await journal.claim(await accept(journal, 'b2'), WORKER, 5), true, 'without an epoch');
    }),
  },
  {
    title: 'reaps a session only at the beat that was seen, and fences its worker from then on',
    run: withSessions(async (journal) => {
      await journal.renew(FIRST, 1);
      const running = await accept(journal, 'b1');
      const queued = await accept(journal, 'b2');
      const bound = await accept(journal, 'b3', { worker: WORKER });
      const done = await accept(journal, 'b4');
      await journal.claim(running, FIRST, 2);
      await journal.claim(done, FIRST, 2);
      await journal.finish(done, successOf('b4'), 3, WORKER);
      await journal.renew(FIRST, 4);
      assertEqual(await journal.reap(FIRST, 1, 5), undefined, 'at an old beat');
      assertEqual(await journal.reap(OTHER, 1, 5), undefined, 'a session that there is not');
      assertEqual(keysOf(await journal.reap(FIRST, 2, 6)), [running, bound], 'its unfinished calls');
      assertEqual(await journal.claim(queued, FIRST, 7), false, 'a claim of the reaped worker');
      assertEqual(await journal.renew(FIRST, 8), undefined, 'its renewal');
      assertEqual(
        (await journal.sessions()).map(({ endedAt }) => endedAt),
        [6],
        'while it has calls',
      );
      assertEqual(keysOf(await journal.reap(FIRST, 2, 9)), [running, bound], 'for the next reaper');
      for (const key of [running, bound]) await journal.finish(key, failureOf('x'), 10, WORKER);
      assertEqual(await journal.sessions(), [], 'once the calls have results');
      assertEqual(await journal.reap(FIRST, 2, 11), [], 'when nothing is left');
    }),
  },
  {
    title: 'lets the worker of a reaped session begin the next, which does not have the calls of the first',
    run: withSessions(async (journal) => {
      await journal.renew(FIRST, 1);
      const [one, other] = [await accept(journal, 'b1'), await accept(journal, 'b2')];
      await journal.claim(one, FIRST, 2);
      assertEqual(await journal.renew(SECOND, 3), { beat: 1, cancelled: [] }, 'the next session');
      assertEqual(await journal.renew(FIRST, 4), undefined, 'the first is over');
      assertEqual(await journal.claim(other, FIRST, 5), false, 'a claim in the first');
      assertEqual(await journal.claim(other, SECOND, 6), true, 'a claim in the next');
      assertEqual(keysOf(await journal.reap(FIRST, 1, 7)), [one], 'calls of the first');
      assertEqual(keysOf(await journal.reap(SECOND, 1, 8)), [other], 'calls of the next');
    }),
  },
  {
    title: 'keeps the result of a worker whose session was reaped if it is the first, else beside the first',
    run: withSessions(async (journal) => {
      await journal.renew(FIRST, 1);
      const [early, late] = [await accept(journal, 'b1'), await accept(journal, 'b2')];
      for (const key of [early, late]) await journal.claim(key, FIRST, 2);
      await journal.reap(FIRST, 1, 3);
      assertEqual(await journal.finish(early, successOf('b1'), 4, WORKER), 'recorded', 'the first');
      await journal.finish(late, failureOf('b2', 'outcome_unknown'), 5, WORKER);
      assertEqual(await journal.finish(late, successOf('b2'), 6, WORKER), 'late', 'the second');
      assertEqual((await journal.call(late))?.result?.error?.code, 'outcome_unknown', 'the result');
    }),
  },
];

/** Cancelling from another process. */
const CANCEL_CASES: readonly JournalCase[] = [
  {
    title: 'cancels a queued call, so that no worker claims it, and never a call with a result',
    run: async (journal) => {
      if (journal.cancel === undefined) return;
      const key = await accept(journal, 'b1');
      assertEqual(await journal.cancel(key, failureOf('b1'), 2), 'cancelled', 'a queued call');
      assertEqual(await journal.claim(key, WORKER, 3), false, 'a claim afterwards');
      const call = await journal.call(key);
      assertEqual([call?.state, call?.result, call?.finishedAt], ['done', failureOf('b1'), 2], 'the call');
      assertEqual(await journal.cancel(key, successOf('b1'), 4), 'done', 'a call with a result');
      assertEqual((await journal.call(key))?.result, failureOf('b1'), 'the first result stays');
    },
  },
  {
    title:
      'asks the worker of a running call to cancel it, with its next renewal, until the call has a result',
    run: withSessions(async (journal) => {
      if (journal.cancel === undefined) return;
      await journal.renew(FIRST, 1);
      const [key, other] = [await accept(journal, 'b1'), await accept(journal, 'b2')];
      for (const each of [key, other]) await journal.claim(each, FIRST, 2);
      assertEqual(await journal.cancel(key, failureOf('b1'), 3), 'asked', 'a running call');
      assertEqual(await journal.cancel(key, failureOf('b1'), 3), 'asked', 'the same again');
      assertEqual((await journal.call(key))?.state, 'running', 'it goes on');
      assertEqual((await journal.renew(FIRST, 4))?.cancelled, [key], 'what the worker hears');
      assertEqual((await journal.renew(OTHER, 4))?.cancelled, [], 'what another worker hears');
      await journal.finish(key, failureOf('b1'), 5, WORKER);
      assertEqual((await journal.renew(FIRST, 6))?.cancelled, [], 'once it is done');
    }),
  },
];

/** Calls that any worker may run. */
const QUEUE_CASES: readonly JournalCase[] = [
  {
    title: 'lists the queued calls with a placement, oldest first, a page at a time',
    run: async (journal) => {
      if (journal.queued === undefined) return;
      const placement: Placement = { startDeadlineMs: 60_000, priority: 3 };
      await accept(journal, 'bound', { worker: WORKER });
      await accept(journal, 'unplaced');
      const keys: string[] = [];
      for (const id of ['b1', 'b2', 'b3', 'b4', 'b5']) keys.push(await accept(journal, id, { placement }));
      await journal.claim('b1/0', WORKER, 2);
      await journal.finish('b3/0', failureOf('b3'), 2, WORKER);
      const [first] = await journal.queued({ limit: 1 });
      assertEqual([first?.key, first?.placement], ['b2/0', placement], 'the first');
      assertEqual(first, await journal.call('b2/0'), 'the record');
      const rest = await journal.queued({ limit: 10, after: 'b2/0' });
      assertEqual(keysOf(rest), ['b4/0', 'b5/0'], 'the rest');
      assertEqual((await journal.batches({ prefix: 'b2' }))[0]?.placement, placement, 'of the batch');
    },
  },
  {
    title: 'lists only the calls that the offer of a worker can run',
    run: async (journal) => {
      if (journal.queued === undefined) return;
      await accept(journal, 'any', { placement: {} });
      await accept(journal, 'gpu', { placement: { labels: ['gpu'] } });
      await accept(journal, 'both', { placement: { labels: ['gpu', 'big'] } });
      await accept(journal, 'root', { placement: { root: 'r1' } });
      const of = async (labels: readonly string[], roots: readonly string[] = []) =>
        keysOf(await journal.queued?.({ limit: 9, offer: { labels, roots } }));
      assertEqual(await of([]), ['any/0'], 'of a worker without labels');
      assertEqual(await of(['gpu']), ['any/0', 'gpu/0'], 'with one');
      assertEqual(
        await of(['big', 'gpu', 'x'], ['r1', 'r2']),
        ['any/0', 'gpu/0', 'both/0', 'root/0'],
        'of all',
      );
      assertEqual(
        keysOf(await journal.queued({ limit: 2, offer: { labels: ['gpu', 'big'] } })),
        ['any/0', 'gpu/0'],
        'a page',
      );
      assertEqual(keysOf(await journal.queued({ limit: 9 }))?.length, 4, 'whatever the placement');
    },
  },
  {
    title: 'leaves out queued calls that wait for the person, until they are approved',
    run: async (journal) => {
      if (journal.queued === undefined) return;
      await accept(journal, 'b1', { placement: {} });
      await journal.decide('b1', { kind: 'wait', at: 2, data: { why: 'approval' } });
      assertEqual(await journal.queued({ limit: 9 }), [], 'while it waits');
      await journal.decide('b1', { kind: 'resume', at: 3, data: {} });
      assertEqual(keysOf(await journal.queued({ limit: 9 })), ['b1/0'], 'once it is approved');
    },
  },
];

async function queue(
  journal: Journal,
  id: string,
  { conversation = id, ...placement }: Placement & { readonly conversation?: string } = {},
): Promise<string> {
  return accept(journal, id, { placement, conversation });
}

/** Tenants that share the workers. */
const TENANT_CASES: readonly JournalCase[] = [
  {
    title: 'hands out calls in fair order: tenants take turns, then priorities, then conversations',
    run: withSessions(async (journal) => {
      if (journal.queued === undefined || journal.running === undefined) return;
      for (const id of ['a1', 'a2', 'a3']) await queue(journal, id, { tenant: 'a', conversation: 'long' });
      await queue(journal, 'a4', { tenant: 'a' });
      await queue(journal, 'a5', { tenant: 'a', priority: 2 });
      for (const id of ['b1', 'b2']) await queue(journal, id, { tenant: 'b' });
      const fair = async (page: object = {}) =>
        keysOf(await journal.queued?.({ limit: 9, order: 'fair', ...page }));
      const all = ['a5/0', 'b1/0', 'a1/0', 'b2/0', 'a4/0', 'a2/0', 'a3/0'];
      assertEqual(await fair(), all, 'all');
      assertEqual(await fair({ limit: 2, skip: 1 }), all.slice(1, 3), 'a part');
      await journal.renew(FIRST, 1);
      await journal.claim('b1/0', FIRST, 2);
      assertEqual(
        await fair(),
        ['a5/0', 'a1/0', 'b2/0', 'a4/0', 'a2/0', 'a3/0'],
        'a running call counts as a turn',
      );
      assertEqual(
        await journal.running(),
        [{ tenant: 'b', toolName: 'write_file', count: 1 }],
        'running calls',
      );
      await journal.finish('b1/0', successOf('b1'), 3, WORKER);
      assertEqual(await journal.running(), [], 'once it is done');
    }),
  },
  {
    title: 'hands out no call, and gives no claim, above a quota of running calls',
    run: withSessions(async (journal) => {
      if (journal.queued === undefined || journal.running === undefined) return;
      await journal.renew(FIRST, 1);
      await journal.renew(OTHER, 1, { quotas: { tools: { write_file: 1 } } });
      for (const id of ['a1', 'a2']) await queue(journal, id, { tenant: 'a', quotas: { running: 1 } });
      for (const id of ['b1', 'b2'])
        await queue(journal, id, { tenant: 'b', quotas: { tools: { write_file: 2 } } });
      await queue(journal, 'c1');
      assertEqual(await journal.claim('a1/0', FIRST, 2), true, 'within the quota');
      assertEqual(await journal.claim('a2/0', FIRST, 2), false, 'above that of the placement');
      assertEqual(await journal.claim('b1/0', FIRST, 2), true, 'of another tenant');
      assertEqual(await journal.claim('b2/0', OTHER, 2), false, 'above that of the worker');
      const quotas = { tools: { write_file: 1 } };
      const handedOut = async (offer?: object) =>
        keysOf(
          await journal.queued?.({ limit: 9, order: 'fair', ...(offer === undefined ? {} : { offer }) }),
        );
      assertEqual(await handedOut(), ['c1/0', 'b2/0'], 'what is handed out');
      assertEqual(await handedOut({ quotas }), ['c1/0'], 'to a worker with a quota');
      assertEqual(await journal.claim('b2/0', FIRST, 2), true, 'to one without');
      await journal.finish('a1/0', successOf('a1'), 3, WORKER);
      assertEqual(await journal.claim('a2/0', FIRST, 4), true, 'once the first is done');
      assertEqual(await journal.claim('c1/0', OTHER, 4), true, 'without a tenant');
    }),
  },
  {
    title: 'hands out no call, and gives no claim, above a quota of a label',
    run: withSessions(async (journal) => {
      if (journal.queued === undefined || journal.running === undefined) return;
      const offer = { labels: ['gpu', 'eu'] };
      await journal.renew(FIRST, 1, offer);
      await journal.renew(OTHER, 1, { ...offer, quotas: { labels: { eu: 1 } } });
      const limited = { tenant: 'a', labels: ['gpu', 'gpu'], quotas: { labels: { gpu: 2, eu: 9 } } };
      for (const id of ['a1', 'a2', 'a3']) await queue(journal, id, limited);
      for (const id of ['b1', 'b2']) await queue(journal, id, { tenant: 'b', labels: ['eu'] });
      await queue(journal, 'c1', { tenant: 'a', quotas: { labels: { gpu: 1 } } });
      assertEqual(await journal.claim('a1/0', FIRST, 2), true, 'the first');
      assertEqual(await journal.claim('a2/0', FIRST, 2), true, 'the second');
      assertEqual(await journal.claim('a3/0', FIRST, 2), false, 'above that of the placement');
      assertEqual(await journal.claim('b1/0', OTHER, 2), true, 'another label');
      assertEqual(await journal.claim('b2/0', OTHER, 2), false, 'above that of the worker');
      const handedOut = async (quotas?: object) =>
        keysOf(
          await journal.queued?.({
            limit: 9,
            order: 'fair',
            offer: { ...offer, ...(quotas === undefined ? {} : { quotas }) },
          }),
        );
      assertEqual(await handedOut(), ['b2/0', 'c1/0'], 'what is handed out');
      assertEqual(await handedOut({ labels: { eu: 1 } }), ['c1/0'], 'to a worker with a quota');
      await journal.finish('a1/0', successOf('a1'), 3, FIRST);
      assertEqual(await journal.claim('a3/0', FIRST, 4), true, 'once the first is done');
      assertEqual(await journal.claim('c1/0', FIRST, 4), true, 'a call without the label');
      const running = await journal.running();
      assertEqual(
        running.filter(({ tenant }) => tenant === 'b'),
        [{ tenant: 'b', toolName: 'write_file', labels: ['eu'], count: 1 }],
        'running calls with a label',
      );
    }),
  },
  {
    title: 'refuses a batch whole if the tenant would have more open calls than the quota',
    run: async (journal) => {
      if (journal.running === undefined) return;
      const send = async (id: string, calls: readonly string[], of: string, openQuota = 2) => {
        const entries = calls.map((each) => callEntry(each));
        const { worker: _, ...entry } = batchEntry(id, entries, { placement: { tenant: of }, attach: true });
        return (await journal.accept({ ...entry, openQuota })).map(({ kind }) => kind);
      };
      assertEqual(await send('b1', ['x', 'y'], 'a'), ['fresh', 'fresh'], 'within the quota');
      assertEqual(await send('b2', ['x', 'z'], 'a'), ['known', 'over_quota'], 'above it');
      const [refusal] = (await journal.accept({
        ...batchEntry('b3', [callEntry('z')], { placement: { tenant: 'a' } }),
        openQuota: 2,
      })) as readonly object[];
      assertEqual(refusal, { kind: 'over_quota', key: 'b3/0', open: 2, quota: 2 }, 'the refusal');
      assertEqual(await send('b4', ['x'], 'a'), ['known'], 'a call that was delivered before');
      assertEqual(await send('b5', ['q'], 'b'), ['fresh'], 'of another tenant');
      assertEqual(await journal.batch('b2'), [], 'nothing of a refused batch is recorded');
      assertEqual(
        await send('b6', ['m', 'n', 'o'], 'c'),
        ['over_quota', 'over_quota', 'over_quota'],
        'too large',
      );
      await journal.finish('b1/0', successOf('x'), 3, WORKER);
      assertEqual(await send('b7', ['z'], 'a'), ['fresh'], 'once a call is done');
    },
  },
];

/** The operations that a fleet of workers needs. Journals without them skip these cases. */
export const SESSION_CASES: readonly JournalCase[] = [
  ...WORKER_CASES,
  ...CANCEL_CASES,
  ...QUEUE_CASES,
  ...TENANT_CASES,
];
