import { describe, expect, it } from 'vitest';
import { APPLICATION_ID, MIGRATIONS } from '../src/journal/sqlite/migrations.js';

/* Files with this schema exist on users' machines. A released step is never changed: add a step, and its text here. */
const RELEASED = [
  `
  CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    attach INTEGER NOT NULL,
    size INTEGER NOT NULL,
    accepted_at REAL NOT NULL
  ) STRICT;

  -- args_hash: SHA-256 of the canonical JSON of args, where later deliveries attach.
  CREATE TABLE calls (
    number INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL REFERENCES batches,
    conversation TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    args TEXT NOT NULL,
    args_hash TEXT,
    effects TEXT NOT NULL,
    disposition TEXT NOT NULL,
    reason TEXT NOT NULL
  ) STRICT;
  CREATE INDEX calls_by_call_id ON calls (conversation, call_id);

  -- A delivery that attached to an earlier one.
  CREATE TABLE repeats (
    number INTEGER PRIMARY KEY,
    call INTEGER NOT NULL REFERENCES calls
  ) STRICT;

  CREATE TABLE claims (
    call INTEGER PRIMARY KEY REFERENCES calls,
    worker TEXT NOT NULL,
    pid INTEGER NOT NULL,
    process_started_at REAL NOT NULL,
    started_at REAL NOT NULL
  ) STRICT;

  -- Texts over 64 KB, by the SHA-256 of their UTF-8.
  CREATE TABLE blobs (
    hash TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT;

  -- Exactly one of result and blob.
  CREATE TABLE results (
    call INTEGER PRIMARY KEY REFERENCES calls,
    result TEXT,
    blob TEXT REFERENCES blobs,
    finished_at REAL NOT NULL,
    CHECK ((result IS NULL) <> (blob IS NULL))
  ) STRICT;

  -- Exactly one of data and blob.
  CREATE TABLE notes (
    number INTEGER PRIMARY KEY,
    call INTEGER NOT NULL REFERENCES calls,
    kind TEXT NOT NULL,
    data TEXT,
    blob TEXT REFERENCES blobs,
    noted_at REAL NOT NULL,
    CHECK ((data IS NULL) <> (blob IS NULL))
  ) STRICT;
  CREATE INDEX notes_by_call ON notes (call);

  -- One row a transaction: the rows it added, and the hash over them and the row before it.
  CREATE TABLE commits (
    number INTEGER PRIMARY KEY,
    added TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;

  -- Calls without a result: what a restart looks at, however long the journal is.
  CREATE TABLE unfinished (call INTEGER PRIMARY KEY REFERENCES calls) STRICT;
  CREATE TRIGGER call_is_unfinished AFTER INSERT ON calls
    BEGIN INSERT INTO unfinished (call) VALUES (new.number); END;
  CREATE TRIGGER call_is_finished AFTER INSERT ON results
    BEGIN DELETE FROM unfinished WHERE call = new.call; END;
  `,
  `
  -- Processes. start_ticks and system are null where the system does not tell.
  CREATE TABLE workers (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    pid INTEGER NOT NULL,
    process_started_at REAL NOT NULL,
    start_ticks INTEGER,
    system TEXT
  ) STRICT;

  -- Who will run it. In the chain only where it is set, so that earlier rows keep their hash.
  ALTER TABLE batches ADD COLUMN worker INTEGER REFERENCES workers;
  CREATE INDEX batches_by_conversation ON batches (conversation);

  -- What is known of a batch as a whole: message, origin, and what was decided. Exactly one of data and blob.
  CREATE TABLE batch_notes (
    number INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL REFERENCES batches,
    kind TEXT NOT NULL,
    data TEXT,
    blob TEXT REFERENCES blobs,
    noted_at REAL NOT NULL,
    CHECK ((data IS NULL) <> (blob IS NULL))
  ) STRICT;
  CREATE INDEX batch_notes_by_batch ON batch_notes (batch);

  -- Messages that are no batches, before the batch of that number. Exactly one of content and blob.
  CREATE TABLE messages (
    number INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    before_batch INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    blob TEXT REFERENCES blobs,
    sent_at REAL NOT NULL,
    CHECK ((content IS NULL) <> (blob IS NULL))
  ) STRICT;
  CREATE INDEX messages_by_conversation ON messages (conversation);

  -- The last decision about a batch: what waits is found however long the journal is.
  CREATE TABLE decided (batch INTEGER PRIMARY KEY REFERENCES batches, kind TEXT NOT NULL) STRICT;
  CREATE INDEX waiting ON decided (batch) WHERE kind = 'wait';
  CREATE TRIGGER batch_is_decided AFTER INSERT ON batch_notes WHEN new.kind IN ('wait', 'resume', 'discard')
    BEGIN
      INSERT INTO decided (batch, kind) VALUES (new.batch, new.kind)
      ON CONFLICT (batch) DO UPDATE SET kind = excluded.kind;
    END;
  `,
  `
  -- What was taken out for its age or for the size of the file. data is JSON; its commits are pairs, the first and the
  -- last of those that gave rows: only the hash of the last is left of them, and what they held besides is covered by
  -- the commit that holds this row.
  CREATE TABLE prunes (
    number INTEGER PRIMARY KEY,
    data TEXT NOT NULL,
    pruned_at REAL NOT NULL
  ) STRICT;
  `,
  `
  -- What conversations know, for later processes: under one key the newest row stands. value is JSON.
  CREATE TABLE facts (
    number INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    remembered_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX facts_by_key ON facts (conversation, key);
  `,
  `
  -- The turn of a call id that was made up, as JSON: null where it is not known, and nothing attaches to the call.
  -- SQL's NULL: the id is the provider's own. In the chain only where it is set, so that earlier rows keep their hash.
  ALTER TABLE calls ADD COLUMN turn TEXT;
  DROP INDEX calls_by_call_id;
  CREATE INDEX calls_by_call_id ON calls (conversation, call_id, turn);
  `,
  `
  -- A call id alone finds its calls, however many conversations there are.
  DROP INDEX calls_by_call_id;
  CREATE INDEX calls_by_id ON calls (call_id, conversation, turn);

  -- What refers to a blob. Rows without one take no room in them.
  CREATE INDEX results_by_blob ON results (blob) WHERE blob IS NOT NULL;
  CREATE INDEX notes_by_blob ON notes (blob) WHERE blob IS NOT NULL;
  CREATE INDEX batch_notes_by_blob ON batch_notes (blob) WHERE blob IS NOT NULL;
  CREATE INDEX messages_by_blob ON messages (blob) WHERE blob IS NOT NULL;
  `,
  `
  -- Commits name their rows by a letter for the table: calls:12 became c12, and both are read.
  `,
  `
  -- Workers that renew a session. beat counts the renewals; process and offer are JSON. Rows change, so the chain does not cover them.
  CREATE TABLE sessions (
    worker TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    beat INTEGER NOT NULL,
    process TEXT NOT NULL,
    offer TEXT NOT NULL,
    ended_at REAL,
    PRIMARY KEY (worker, epoch)
  ) STRICT;

  -- In which session a worker has claimed a call. Without a row: the worker has none.
  CREATE TABLE session_claims (call INTEGER PRIMARY KEY REFERENCES calls, epoch INTEGER NOT NULL) STRICT;
  `,
  `
  -- What running calls print, for other processes: only the newest. Rows go away, so the chain does not cover them.
  CREATE TABLE live_texts (
    number INTEGER PRIMARY KEY,
    call TEXT NOT NULL,
    stream TEXT NOT NULL,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    printed_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX live_texts_by_call ON live_texts (call, start);
  `,
];

describe('the journal schema', () => {
  it('is the released one, step by step', () => {
    expect(MIGRATIONS).toEqual(RELEASED);
  });

  it('is marked as ours', () => {
    expect(APPLICATION_ID).toBe(0x74786a6c);
  });
});
