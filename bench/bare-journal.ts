import { journalSchema, sqlite } from './built.js';

const HASH = 'a'.repeat(64);
const RESULT = JSON.stringify({
  callId: 'call_0',
  toolName: 'noop',
  success: true,
  output: 'hello world',
  truncated: false,
  executionTimeMs: 0,
  metadata: {},
});

/** A call's rows, with nothing around them: what any durable record of a call's start and result has to write. */
export class BareJournal {
  readonly #database: ReturnType<typeof sqlite.openSqlite>;
  readonly #statements: ReturnType<typeof prepareStatements>;
  #next = 1;

  constructor(path: string) {
    this.#database = sqlite.openSqlite(path);
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    for (const step of journalSchema.MIGRATIONS) this.#database.exec(step);
    this.#statements = prepareStatements(this.#database);
  }

  /** Calls that start together and end together: two transactions, each with a link for the chain. */
  record(count: number): void {
    const { begin, batch, call, claim, result, link, commit } = this.#statements;
    const first = this.#next;
    this.#next += count * 2;
    begin.run();
    for (let number = first; number < this.#next; number += 2) {
      batch.run(number, `01234567-89ab-cdef-0123-456789abcdef-${number}`);
      call.run(number + 1, number);
      claim.run(number + 1);
    }
    link.run(`claims:${first}`, HASH);
    commit.run();
    begin.run();
    for (let number = first; number < this.#next; number += 2) result.run(number + 1, RESULT);
    link.run(`results:${first}`, HASH);
    commit.run();
  }

  close(): void {
    this.#database.close();
  }
}

function prepareStatements(database: ReturnType<typeof sqlite.openSqlite>) {
  const args = `'{"message":"hello world","count":3}', NULL, '[{"kind":"unknown"}]', 'execute_now'`;
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    batch: database.prepare("INSERT INTO batches VALUES (?, ?, 'conversation', 0, 1, 1)"),
    call: database.prepare(
      `INSERT INTO calls VALUES (?, ?, 'conversation', 'call_0', 'noop', ${args}, 'no policy is set')`,
    ),
    claim: database.prepare("INSERT INTO claims VALUES (?, 'worker', 1, 1, 1)"),
    result: database.prepare('INSERT INTO results VALUES (?, ?, NULL, 2)'),
    link: database.prepare('INSERT INTO commits (added, hash) VALUES (?, ?)'),
    commit: database.prepare('COMMIT'),
  };
}
