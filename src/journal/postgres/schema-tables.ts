/** The tables. `{s}` stands for the schema; texts compare by their bytes on every server. */
export const TABLES = `
  -- The order of acceptance, and that of messages between batches.
  CREATE SEQUENCE {s}.numbers;

  -- decision and why are those of the last decision. worker, message, origin and placement are JSON.
  CREATE TABLE {s}.batches (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    attach boolean NOT NULL,
    size integer NOT NULL,
    accepted_at double precision NOT NULL,
    worker text,
    worker_id text COLLATE "C",
    token text NOT NULL,
    message text,
    origin text,
    placement text,
    labels text[],
    root text COLLATE "C",
    decision text COLLATE "C",
    why text,
    PRIMARY KEY (tenant, id)
  );
  CREATE INDEX batches_by_conversation ON {s}.batches (tenant, conversation, number);
  CREATE INDEX waiting_batches ON {s}.batches (tenant, number) WHERE decision = 'wait';

  -- A claim and a result are filled in once and never change. result_open: a later delivery is evaluated again.
  CREATE TABLE {s}.calls (
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    number bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    call_id text COLLATE "C" NOT NULL,
    turn text COLLATE "C",
    tool_name text COLLATE "C" NOT NULL,
    args text NOT NULL,
    args_hash text COLLATE "C",
    effects text NOT NULL,
    disposition text NOT NULL,
    reason text NOT NULL,
    conflicts_with_batch text COLLATE "C",
    conflicts_with_position integer,
    worker text,
    worker_id text COLLATE "C",
    epoch integer,
    claim_token text,
    started_at double precision,
    cancel_asked boolean,
    result text,
    result_open boolean,
    finished_at double precision,
    PRIMARY KEY (tenant, batch_id, position)
  ) WITH (fillfactor = 80);
  CREATE INDEX calls_by_id ON {s}.calls (tenant, call_id, conversation);
  CREATE INDEX unfinished_calls ON {s}.calls (tenant, conversation, number) WHERE finished_at IS NULL;

  -- A delivery that attached to an earlier one.
  CREATE TABLE {s}.repeats (
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    first_batch text COLLATE "C" NOT NULL,
    first_position integer NOT NULL,
    PRIMARY KEY (tenant, batch_id, position)
  );

  CREATE TABLE {s}.notes (
    number bigserial PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    position integer NOT NULL,
    kind text COLLATE "C" NOT NULL,
    data text NOT NULL,
    noted_at double precision NOT NULL
  );
  CREATE INDEX notes_by_call ON {s}.notes (tenant, batch_id, position);

  CREATE TABLE {s}.decisions (
    number bigserial PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    batch_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    data text NOT NULL,
    decided_at double precision NOT NULL
  );
  CREATE INDEX decisions_by_batch ON {s}.decisions (tenant, batch_id);

  CREATE TABLE {s}.messages (
    tenant text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    sent_at double precision NOT NULL,
    PRIMARY KEY (tenant, conversation, number)
  );

  CREATE TABLE {s}.facts (
    tenant text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    value text NOT NULL,
    remembered_at double precision NOT NULL,
    PRIMARY KEY (tenant, conversation, key)
  );

  CREATE TABLE {s}.blobs (
    tenant text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant, hash)
  );

  CREATE TABLE {s}.sessions (
    tenant text COLLATE "C" NOT NULL,
    worker text COLLATE "C" NOT NULL,
    epoch integer NOT NULL,
    beat bigint NOT NULL,
    process text NOT NULL,
    offer text NOT NULL,
    ended_at double precision,
    PRIMARY KEY (tenant, worker, epoch)
  );
`;
