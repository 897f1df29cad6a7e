import { systemClock } from '../platform/clock.js';
import { type FileIdentity, fileIdentity, leadsTo } from '../platform/journal-file.js';
import type { Head, JournalAnchor } from './journal-anchor.js';
import { journalUnavailable } from './journal-unavailable.js';

/** Who removes the write-ahead log alone, and not the file, is noticed so much later at most. */
const LOG_LOOKED_AT_EVERY_MS = 50;

/**
 * Stands beside an open journal: after each commit it makes sure that the file which took it is still the one under the
 * journal's name, and moves the anchor. SQLite itself goes on writing into a file that was removed.
 */
export class JournalWatch {
  readonly #path: string;
  readonly #log: string;
  readonly #anchor: JournalAnchor;
  readonly #file: FileIdentity | undefined;
  /** The write-ahead log is made with the first commit. */
  #logFile: FileIdentity | undefined = undefined;
  #logLookedAt = 0;

  constructor(path: string, anchor: JournalAnchor) {
    this.#path = path;
    this.#log = `${path}-wal`;
    this.#anchor = anchor;
    this.#file = fileIdentity(path);
  }

  /**
   * @param commit the commit that the chain ends with now, and its hash.
   * @throws ToolError `journal_unavailable` where the commit went into a file that was removed or replaced.
   */
  committed(commit: number, hash: string): void {
    if (this.#file !== undefined && !leadsTo(this.#path, this.#file)) throw this.#gone('its file');
    this.#lookAtLog();
    this.#anchor.move({ commit, hash });
  }

  /** The write-ahead log was made again by this connection, while no other had the journal open. */
  logRenewed(): void {
    this.#logFile = undefined;
  }

  /** What was lost is accepted: the journal is the one that goes on from here. */
  accept(head: Head): void {
    this.#anchor.move(head);
    this.#anchor.remember(undefined);
  }

  close(): void {
    this.#anchor.close();
  }

  #lookAtLog(): void {
    if (this.#logFile === undefined) {
      this.#logFile = fileIdentity(this.#log);
      return;
    }
    const now = systemClock.monotonic();
    if (now - this.#logLookedAt < LOG_LOOKED_AT_EVERY_MS) return;
    this.#logLookedAt = now;
    if (!leadsTo(this.#log, this.#logFile)) throw this.#gone('its write-ahead log');
  }

  #gone(what: string): Error {
    return journalUnavailable(
      `Cannot record in the journal "${this.#path}"`,
      `${what} was removed or replaced while it was in use`,
      'What it took last may be lost. Put the file back, or start again with what is there.',
      { details: { path: this.#path } },
    );
  }
}
