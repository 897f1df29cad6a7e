import type { BatchEntry, Journal } from '../contract/journal.js';
import type { JournalCase, SharedJournalCase } from './describe-journal.js';
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

async function accept(journal: Journal, id: string, options: Partial<BatchEntry> = {}): Promise<string> {
  const [answer] = await journal.accept(batchEntry(id, [callEntry('x')], options));
  return assertPresent(answer, 'answer').key;
}

/** A result ends the claim that it names, and no other claim. */
export const CLAIMANT_CASES: readonly JournalCase[] = [
  {
    title: 'records no refusal of a host over the claim of a worker, whose result counts',
    run: async (journal) => {
      const key = await accept(journal, 'b1');
      await journal.claim(key, WORKER, 1);
      const refusal = failureOf('x', 'journal_unavailable');
      assertEqual(await journal.finish(key, refusal, 2, 'queued'), 'claimed', 'a refusal of a queued call');
      assertEqual(await journal.finish(key, refusal, 2, OTHER_WORKER), 'claimed', 'by another process');
      assertEqual((await journal.call(key))?.state, 'running', 'the call');
      assertEqual(await journal.finish(key, successOf('x'), 3, WORKER), 'recorded', 'by the worker');
      assertEqual(await journal.finish(key, refusal, 4, 'queued'), 'claimed', 'once it is done');
      assertEqual((await journal.call(key))?.result, successOf('x'), 'result');
      assertEqual(await journal.notes(key), [], 'notes');
    },
  },
  {
    title: 'records a refusal of a queued call, which no worker claims from then on',
    run: async (journal) => {
      const key = await accept(journal, 'b1');
      assertEqual(await journal.finish(key, failureOf('x'), 2, 'queued'), 'recorded', 'the refusal');
      assertEqual(await journal.claim(key, WORKER, 3), false, 'a claim');
      assertEqual(await journal.finish(key, failureOf('x'), 4, 'queued'), 'late', 'a second refusal');
      assertEqual(await journal.notes(key), [], 'it proves nothing: the call did not run');
    },
  },
  {
    title: 'keeps the result of a reaped worker apart from the call that was delivered and claimed again',
    run: async (journal) => {
      if (journal.renew === undefined || journal.reap === undefined) return;
      const reaped = { ...WORKER, epoch: 1 };
      await journal.renew(reaped, 1);
      const first = await accept(journal, 'b1', { attach: true });
      await journal.claim(first, reaped, 2);
      const [left] = (await journal.reap(reaped, 1, 3)) ?? [];
      const dead = assertPresent(left?.worker, 'the claim that is left');
      // The tool found out that nothing had happened, so the call may be delivered again.
      await journal.finish(first, failureOf('x', 'approval_unavailable'), 4, dead);
      const again = await accept(journal, 'b2', { attach: true });
      assertEqual(await journal.claim(again, OTHER_WORKER, 5), true, 'the second claim');
      assertEqual(await journal.finish(first, successOf('x'), 6, reaped), 'late', 'of the first call');
      assertEqual(await journal.finish(again, successOf('x'), 6, reaped), 'claimed', 'of the second call');
      assertEqual((await journal.call(again))?.state, 'running', 'the second call');
      assertEqual(
        await journal.finish(again, successOf('x', 'real'), 7, OTHER_WORKER),
        'recorded',
        'by its worker',
      );
      assertEqual((await journal.call(again))?.result, successOf('x', 'real'), 'result');
    },
  },
  {
    title: 'counts a result once that is sent twice, of any size',
    run: async (journal) => {
      const results = [
        successOf('x'),
        pictureOf('x', Uint8Array.of(0, 255)),
        successOf('x', 'äö\n'.repeat(60_000)),
      ];
      for (const [index, result] of results.entries()) {
        const key = await accept(journal, `b${index}`);
        await journal.claim(key, WORKER, 1);
        assertEqual(await journal.finish(key, result, 2, WORKER), 'recorded', 'the first time');
        assertEqual(await journal.finish(key, result, 2, WORKER), 'recorded', 'the second time');
        assertEqual((await journal.call(key))?.result, result, 'result');
        assertEqual(await journal.notes(key), [], 'notes');
      }
    },
  },
];

/** The same with several processes that try at the same time. */
export const SHARED_CLAIMANT_CASES: readonly SharedJournalCase[] = [
  {
    title: 'recovers a call while its worker records the result: the first answer counts, the other is late',
    run: async (worker, recovery) => {
      for (let index = 0; index < 10; index++) {
        const key = await accept(worker, `b${index}`);
        await worker.claim(key, WORKER, 1);
        const found = assertPresent((await recovery.call(key))?.worker, 'the worker');
        const lost = failureOf('x', 'outcome_unknown');
        const asked = [
          () => worker.finish(key, successOf('x'), 2, WORKER),
          () => recovery.finish(key, lost, 3, found),
        ];
        if (index % 2 === 1) asked.reverse();
        const answers = await Promise.all(asked.map((ask) => ask()));
        assertEqual([...answers].sort(), ['late', 'recorded'], 'answers');
        const byWorker = answers[index % 2] === 'recorded';
        assertEqual((await worker.call(key))?.result, byWorker ? successOf('x') : lost, 'result');
      }
    },
  },
  {
    title: 'ends a queued call while a worker claims it: the claim or the answer counts, never both',
    run: async (worker, host) => {
      for (let index = 0; index < 10; index++) {
        const key = await accept(worker, `b${index}`);
        await host.call(key);
        const asked = [
          () => worker.claim(key, WORKER, 1),
          () => host.finish(key, failureOf('x'), 2, 'queued'),
        ];
        if (index % 2 === 1) asked.reverse();
        const answers = await Promise.all(asked.map((ask) => ask()));
        const hasClaim = answers.includes(true);
        assertEqual(answers.includes('recorded'), !hasClaim, 'the answer');
        assertEqual((await host.call(key))?.state, hasClaim ? 'running' : 'done', 'state');
      }
    },
  },
];
