import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../platform/sqlite/sqlite.js';
import { batchEntry, callEntry, pictureOf } from '../../testing/journal-entries.js';
import { createMemoryJournal } from '../memory/memory-journal.js';
import { openJournal } from '../open-journal.js';
import { verifyJournal } from '../verify-journal.js';

const BYTES = Uint8Array.of(1, 2, 3);

it('says which part of a result the file has lost, and verify finds it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'journal.db');
  const journal = openJournal(path);
  await journal.accept(batchEntry('b', [callEntry('x')]));
  await journal.finish('b/0', pictureOf('x', BYTES), 1, 'queued');
  const hash = await journal.keep(BYTES);
  await journal.close();
  expect(verifyJournal(path)).toMatchObject({ intact: true });
  const database = openSqlite(path);
  database.prepare('DELETE FROM blobs WHERE hash = ?').run(hash);
  database.close();
  expect(verifyJournal(path)).toEqual({ intact: false, reason: `blob ${hash} is gone` });
  const again = openJournal(path);
  const content = (await again.call('b/0'))?.result?.content;
  await again.close();
  expect(content?.[1]).toEqual({ type: 'text', text: '[image image/png, 3 bytes: no longer kept]' });
  expect(content?.[2]).toMatchObject({ type: 'resource', text: 'inside' });
});

it('forgets the oldest contents of results in memory, and leaves a note in their place', async () => {
  const journal = createMemoryJournal();
  const picture = (fill: number): Uint8Array => new Uint8Array(30 * 1024 * 1024).fill(fill);
  await journal.accept(
    batchEntry(
      'b',
      ['x', 'y', 'z'].map((id) => callEntry(id)),
    ),
  );
  for (const [index, id] of ['x', 'y', 'z'].entries()) {
    await journal.finish(`b/${index}`, pictureOf(id, picture(index)), 1, 'queued');
  }
  const contents = (await journal.batch('b')).map(({ result }) => result?.content?.[1]);
  expect(contents[0]).toMatchObject({ type: 'text', text: expect.stringContaining('no longer kept') });
  expect(contents.slice(1).map((block) => block?.type)).toEqual(['image', 'image']);
});

it('writes the content of a record as base64 in JSON', async () => {
  const journal = createMemoryJournal();
  await journal.accept(batchEntry('b', [callEntry('x')]));
  await journal.finish('b/0', pictureOf('x', BYTES), 1, 'queued');
  expect(JSON.stringify(await journal.call('b/0'))).toContain('"data":"AQID"');
});
