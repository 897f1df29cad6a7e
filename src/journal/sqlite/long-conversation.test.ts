import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqlite } from '../../platform/sqlite/sqlite.js';
import { batchEntry, callEntry } from '../../testing/journal-entries.js';
import { openJournal } from '../open-journal.js';

const BATCHES = 60_000;

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(directory, 'journal.db');
});

afterEach(() => rmSync(directory, { recursive: true }));

/** Batches of the conversation `long`, and one that waits for approval in another one. */
async function fill(): Promise<void> {
  const journal = openJournal(path);
  await journal.accept(batchEntry('waits', [callEntry('x')], { conversation: 'waiting', attach: true }));
  await journal.decide('waits', { kind: 'wait', at: 1, data: { why: 'approval' } });
  await journal.close();
  const file = openSqlite(path);
  file.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${BATCHES})
    INSERT INTO batches (number, id, conversation, attach, size, accepted_at) SELECT i + 10, 'b' || i, 'long', 1, 0, 1 FROM n`);
  file.close();
}

it('accepting a call took longer with each earlier batch of its conversation', async () => {
  await fill();
  const journal = openJournal(path);
  const times: Record<string, number[]> = { long: [], short: [] };
  for (let round = 0; round < 25; round++) {
    for (const conversation of ['long', 'short']) {
      const entry = batchEntry(`${conversation}-${round}`, [callEntry(`call-${round}`)], {
        conversation,
        attach: true,
        onlyReads: true,
      });
      const before = performance.now();
      await journal.accept(entry);
      const took = performance.now() - before;
      times[conversation]?.push(took);
    }
  }
  await journal.close();
  const median = (of: readonly number[] = []) => [...of].sort((a, b) => a - b)[of.length >> 1] ?? 0;
  // A scan of all batches took 3 to 6 ms.
  expect(median(times.long)).toBeLessThan(median(times.short) * 2 + 1);
});
