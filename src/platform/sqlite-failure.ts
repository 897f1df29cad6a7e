/** What went wrong with a database. */
export type SqliteFailure =
  /** Another connection is writing: try again. */
  | 'busy'
  /** The values of this statement: others can go on. */
  | 'statement'
  /** The file holds no database, a broken one, or one without our tables. */
  | 'damaged'
  /** The disk is full. */
  | 'full'
  | 'read-only'
  /** The disk, the file's access rights, memory. */
  | 'environment';

/** Judges an error that a database operation threw. One that is not SQLite's is about the values that were given. */
export function sqliteFailure(error: unknown): SqliteFailure {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return 'statement';
  const code = 'errcode' in error ? error.errcode : undefined;
  if (typeof code === 'number') return BY_PRIMARY_CODE[code & 0xff] ?? 'environment';
  // @photostructure/sqlite leaves the code out in some places; the texts are SQLite's own and do not change.
  return BY_MESSAGE.find(([text]) => error.message.includes(text))?.[1] ?? 'environment';
}

const BY_PRIMARY_CODE: Readonly<Record<number, SqliteFailure>> = {
  // All statements are ours and correct: what they name is missing.
  1: 'damaged',
  5: 'busy',
  6: 'busy',
  8: 'read-only',
  11: 'damaged',
  13: 'full',
  18: 'statement',
  19: 'statement',
  20: 'statement',
  25: 'statement',
  26: 'damaged',
};

const BY_MESSAGE: readonly (readonly [string, SqliteFailure])[] = [
  ['is locked', 'busy'],
  ['readonly database', 'read-only'],
  ['malformed', 'damaged'],
  ['not a database', 'damaged'],
  ['no such', 'damaged'],
  ['disk is full', 'full'],
  ['too big', 'statement'],
  ['constraint', 'statement'],
  ['datatype mismatch', 'statement'],
];
