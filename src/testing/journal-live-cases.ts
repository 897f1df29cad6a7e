import type { Journal, LiveText } from '../contract/journal.js';
import type { JournalCase, SharedJournalCase } from './describe-journal.js';
import { assertEqual, assertPresent, batchEntry, callEntry, WORKER } from './journal-entries.js';

type Live = Journal & Required<Pick<Journal, 'print' | 'printed'>>;

const isLive = (journal: Journal): journal is Live =>
  journal.print !== undefined && journal.printed !== undefined;

async function accept(journal: Journal, id: string): Promise<string> {
  const [answer] = await journal.accept(batchEntry(id, [callEntry(id)]));
  return assertPresent(answer, 'answer').key;
}

function text(key: string, from: number, written: string): LiveText {
  return { key, stream: 'stdout', from, text: written };
}

/** The output of running calls, and the counts of open ones, for other processes. */
export const LIVE_CASES: readonly JournalCase[] = [
  {
    title: 'gives what calls print from a place on, in the order of each call, and nothing of other calls',
    async run(journal) {
      if (!isLive(journal)) return;
      const [a, b] = [await accept(journal, 'a'), await accept(journal, 'b')];
      const odd = { ...text(a, 3, 'nul \0, half \ud800'), stream: 'stderr' as const };
      await journal.print([text(a, 0, 'one'), text(b, 0, 'other')], 10);
      await journal.print([odd], 20);
      assertEqual(await journal.printed(new Map([[a, 0]])), [text(a, 0, 'one'), odd], 'from the start');
      assertEqual(await journal.printed(new Map([[a, 1]])), [odd], 'from a place');
      assertEqual(await journal.printed(new Map([[b, 5]])), [], 'after the last');
      assertEqual(await journal.printed(new Map()), [], 'of no call');
    },
  },
  {
    title: 'keeps only the newest of what calls print',
    async run(journal) {
      if (!isLive(journal)) return;
      const key = await accept(journal, 'a');
      for (let round = 0; round < 20; round++) {
        const texts = Array.from({ length: 500 }, (_, index) => text(key, round * 500 + index, 'x'));
        await journal.print(texts, 10);
      }
      const oldest = (await journal.printed(new Map([[key, 0]])))[0];
      if (oldest === undefined || oldest.from < 500) throw new Error('the oldest text is still kept');
      assertEqual((await journal.printed(new Map([[key, 9_999]]))).length, 1, 'the newest');
      await journal.print([text(key, 10_000, 'later')], 10 + 3_600_000);
      await journal.print([text(key, 10_005, '.')], 10 + 3_600_000);
      const [first] = await journal.printed(new Map([[key, 0]]));
      if (first === undefined || first.from <= (oldest?.from ?? 0))
        throw new Error('old texts are still kept');
    },
  },
  {
    title: 'counts the calls without a result as it lists them',
    async run(journal) {
      if (journal.openCounts === undefined) return;
      assertEqual(await journal.openCounts(), { queued: 0, running: 0, waitingBatches: 0 }, 'at first');
      const add = (id: string, at: number, more: object) =>
        journal.accept({ ...batchEntry(id, [callEntry(id), callEntry(`${id}2`)], more), at });
      await add('placed', 20, { placement: {} });
      await add('older', 10, { placement: {} });
      await add('hosted', 5, {});
      await add('asks', 1, { placement: {} });
      await journal.decide('asks', { kind: 'wait', at: 30, data: {} });
      const [first] = await journal.batch('older');
      await journal.claim(assertPresent(first, 'call').key, WORKER, 40);
      assertEqual(
        await journal.openCounts(),
        { queued: 3, oldestQueuedAt: 10, running: 1, waitingBatches: 1 },
        'with calls',
      );
    },
  },
];

export const SHARED_LIVE_CASES: readonly SharedJournalCase[] = [
  {
    title: 'gives what a call prints to another process',
    async run(first, second) {
      if (!isLive(first) || !isLive(second)) return;
      const key = await accept(first, 'a');
      await first.print([text(key, 0, 'seen')], 10);
      assertEqual(await second.printed(new Map([[key, 0]])), [text(key, 0, 'seen')], 'by the other');
    },
  },
];
