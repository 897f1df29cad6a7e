import { isToolError } from '../../errors/tool-error.js';
import { isChangeSettled, stampOf } from '../../platform/fs/file-stamp.js';
import { targetOf } from '../../platform/fs/fs-entry.js';
import { findLoss, type JournalLoss, readAnchor } from './journal-anchor.js';
import type { JournalDatabase } from './journal-database.js';
import { IN_MEMORY, type JournalLook, openJournalLook } from './open-journal-database.js';

/**
 * A journal's file that cannot be written here. Another process may still write it, through another mount or
 * as another user: an answer counts only if the files are the same before and after reading.
 */
export class ReadOnlyJournal {
  #look: (JournalLook & { readonly stamp: string }) | undefined;

  constructor(
    private readonly path: string,
    private readonly onLoss: (loss: JournalLoss) => void,
  ) {}

  /**
   * @param refusal why it could not be opened for writing
   * @throws `refusal` if the reason is not write access; a `busy` error while another process writes
   */
  read<T>(refusal: unknown, run: (database: JournalDatabase) => T): T {
    // A file that is not a journal, or has lost records, is refused to readers too.
    if (this.path === IN_MEMORY || isToolError(refusal)) throw refusal;
    const stamp = this.#stamp();
    if (stamp === undefined) throw refusal;
    if (this.#look?.isLive !== true && this.#look?.stamp !== stamp) this.close();
    this.#look ??= this.#open(stamp);
    const { database, isLive } = this.#look;
    const answer = run(database);
    if (isLive || this.#stamp() === stamp) return answer;
    this.close();
    throw beingWritten();
  }

  close(): void {
    this.#look?.database.close();
    this.#look = undefined;
  }

  #open(stamp: string): JournalLook & { readonly stamp: string } {
    const known = readAnchor(this.path);
    const look = openJournalLook(this.path);
    try {
      // Two changes within one tick of the file system's clock have the same stamp.
      if (!look.isLive && (this.#stamp() !== stamp || !this.#files.every(isChangeSettled)))
        throw beingWritten();
      const loss = findLoss(look.database, known);
      if (loss !== undefined) this.onLoss(loss);
      return { ...look, stamp };
    } catch (error) {
      look.database.close();
      throw error;
    }
  }

  /** Without an empty log: each attempt to open the journal on a full disk touches it, and writing changes its size. */
  get #files(): readonly string[] {
    const log = `${this.path}-wal`;
    return (targetOf(log)?.size ?? 0) === 0 ? [this.path] : [this.path, log];
  }

  /** Undefined if there is no journal. */
  #stamp(): string | undefined {
    const [file, log] = this.#files.map(stampOf);
    return file === undefined ? undefined : `${file} ${log}`;
  }
}

/** In SQLite's form, so that the operation is retried. */
function beingWritten(): Error {
  return Object.assign(new Error('database is locked: another process writes it'), {
    code: 'ERR_SQLITE_ERROR',
    errcode: 5,
  });
}
