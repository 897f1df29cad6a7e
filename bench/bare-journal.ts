import { journalSchema, sqlite } from './built.js';

const HASH = 'a'.repeat(64);
const RESULT = {
  callId: 'call_0',
  toolName: 'noop',
  success: true,
  output: 'hello world',
  truncated: false,
  executionTimeMs: 0,
  metadata: {},
};

/** A call's rows, with nothing around them: what any durable record of a call's start and result has to write. */
export class BareJournal {
  readonly #database: ReturnType<typeof sqlite.openSqlite>;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #next = 1;

  constructor(path: string) {
    this.#database = sqlite.openSqlite(path);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    for (const step of journalSchema.MIGRATIONS) this.#database.exec(step);
    this.#database.exec(`INSERT INTO workers VALUES (1, '${WORKER}', ${process.pid}, 1, 1, NULL)`);
    this.#statements = prepareStatements(this.#database);
  }

  /** Calls that start together and end together: two transactions, each with a link that names its rows. */
  record(count: number): void {
    const { begin, batch, call, claim, result, link, commit } = this.#statements;
    const first = this.#next;
    this.#next += count * 2;
    let added = '';
    begin.run();
    for (let number = first; number < this.#next; number += 2) {
      const at = Date.now();
      batch.run(number, `01234567-89ab-cdef-0123-456789abcdef-${number}`, CONVERSATION, 0, 1, at);
      call.run(
        number + 1,
        number,
        CONVERSATION,
        'call_0',
        'noop',
        ARGS,
        null,
        EFFECTS,
        'execute_now',
        REASON,
      );
      claim.run(number + 1, WORKER, process.pid, at, at);
      added += ` b${number} c${number + 1} s${number + 1}`;
    }
    link.run(added.trimStart(), HASH);
    commit.run();
    added = '';
    begin.run();
    for (let number = first; number < this.#next; number += 2) {
      result.run(number + 1, JSON.stringify(RESULT), null, Date.now());
      added += ` r${number + 1}`;
    }
    link.run(added.trimStart(), HASH);
    commit.run();
  }

  close(): void {
    this.#database.close();
  }
}

const CONVERSATION = 'executor:01234567-89ab-cdef-0123-456789abcdef';
const WORKER = '01234567-89ab-cdef-0123-456789abcdef';
const ARGS = '{"message":"hello world","count":3}';
const EFFECTS = '[{"kind":"call","server":"s","tool":"noop","access":"write","resource":"123456"}]';
const REASON = 'no policy is set';

function prepareStatements(database: ReturnType<typeof sqlite.openSqlite>) {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    batch: database.prepare('INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, 1)'),
    call: database.prepare('INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)'),
    claim: database.prepare('INSERT INTO claims VALUES (?, ?, ?, ?, ?)'),
    result: database.prepare('INSERT INTO results VALUES (?, ?, ?, ?)'),
    link: database.prepare('INSERT INTO commits (added, hash) VALUES (?, ?)'),
    commit: database.prepare('COMMIT'),
  };
}
