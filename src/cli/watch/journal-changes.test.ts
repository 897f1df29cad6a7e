import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Journal } from '../../contract/journal.js';
import { glanceAtArchive } from '../../journal/open-archive.js';
import { openJournal } from '../../journal/open-journal.js';
import { batchEntry, callEntry, successOf, WORKER } from '../../testing/journal-entries.js';
import { type JournalChange, JournalChanges } from './journal-changes.js';

let folder: string;
let journal: Journal;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-changes-'));
  journal = openJournal(join(folder, 'journal.db'));
});
afterEach(async () => {
  await journal.close();
  rmSync(folder, { recursive: true });
});

/** A short form of the changes. */
function look(changes: JournalChanges): readonly string[] {
  const archive = glanceAtArchive(join(folder, 'journal.db'));
  try {
    return changes.read(archive).map(inShort);
  } finally {
    archive.close();
  }
}

function inShort(change: JournalChange): string {
  const call = 'callId' in change ? ` ${change.callId}` : '';
  const more =
    change.type === 'waiting' ? ` ${change.why}` : change.type === 'decided' ? ` ${change.decision}` : '';
  const marks = ('earlier' in change ? ' earlier' : '') + ('repeated' in change ? ' repeated' : '');
  return `${change.batch} ${change.type}${call}${more}${marks}`;
}

const accept = (id: string, conversation: string, ...calls: string[]) =>
  journal.accept(
    batchEntry(
      id,
      calls.map((callId) => callEntry(callId)),
      { conversation, attach: true },
    ),
  );
const decide = (id: string, kind: 'wait' | 'resume', why: string) =>
  journal.decide(id, { kind, at: 50, data: { why } });

describe('JournalChanges', () => {
  it('says what happens to each call, in the order in which it happens', async () => {
    const changes = new JournalChanges();
    expect(look(changes)).toEqual([]);
    await accept('b1', 'c', 'one', 'two');
    expect(look(changes)).toEqual(['b1 batch']);
    await journal.claim('b1/0', WORKER, 10);
    expect(look(changes)).toEqual(['b1 started one']);
    await journal.finish('b1/0', successOf('one', ''), 20, WORKER);
    await journal.claim('b1/1', WORKER, 21);
    expect(look(changes)).toEqual(['b1 completed one', 'b1 started two']);
    await journal.finish('b1/1', successOf('two', ''), 30, WORKER);
    expect(look(changes)).toEqual(['b1 completed two']);
    expect(look(changes)).toEqual([]);
  });

  it('begins with unfinished batches, and with waiting ones', async () => {
    await accept('b1', 'c', 'one');
    await journal.finish('b1/0', successOf('one', ''), 20, WORKER);
    await accept('b2', 'c', 'two');
    await accept('b3', 'c', 'three');
    await decide('b3', 'wait', 'approval');
    const changes = new JournalChanges();
    expect(look(changes)).toEqual(['b2 batch earlier', 'b3 batch earlier', 'b3 waiting approval']);
    await decide('b3', 'resume', 'approval');
    expect(look(changes)).toEqual(['b3 decided resume']);
  });

  it('tells of a delivery that is answered from the record', async () => {
    const changes = new JournalChanges();
    await accept('b1', 'c', 'one');
    await journal.finish('b1/0', successOf('one', ''), 20, WORKER);
    look(changes);
    await accept('b2', 'c', 'one');
    expect(look(changes)).toEqual(['b2 batch', 'b2 completed one repeated']);
  });

  it('speaks of one conversation only where that is wanted, and misses none of very many batches', async () => {
    const changes = new JournalChanges('mine');
    look(changes);
    for (let count = 0; count < 250; count++) void accept(`m${count}`, 'mine', `call_${count}`);
    await accept('other', 'theirs', 'call');
    const told = look(changes);
    expect(told).toHaveLength(250);
    expect([told[0], told.at(-1)]).toEqual(['m0 batch', 'm249 batch']);
    expect(look(changes)).toEqual([]);
  });

  it('takes everything of a journal for new that was made while it was looked for', async () => {
    await accept('b1', 'c', 'one');
    await journal.finish('b1/0', successOf('one', ''), 20, WORKER);
    expect(look(new JournalChanges(undefined, true))).toEqual(['b1 batch', 'b1 completed one']);
  });
});
