import type { JsonObject } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { systemClock } from '../../platform/clock/clock.js';
import { type FixedFile, openFixedFile, readFixedFile } from '../../platform/fs/fixed-file.js';
import { type FileIdentity, fileIdentity, leadsTo } from '../../platform/fs/journal-file.js';
import { syncFile } from '../../platform/fs/sync-directory.js';
import { journalUnavailable } from '../records/journal-errors.js';
import type { Durability, JournalDatabase } from './journal-database.js';

/** The end of a journal's chain of commits. */
export interface Head {
  /** The last commit; 0 before the first. */
  readonly commit: number;
  /** Its hash; empty before the first. */
  readonly hash: string;
}

/**
 * The anchor of a journal: a small file beside it that says where its chain of commits ended. It is written
 * after a commit is on disk, and not synced. So an anchor may be older than its journal; but a journal that
 * is older than its anchor has lost commits.
 */
interface AnchorText {
  /** The newest known head; undefined if none is known. */
  readonly head: Head | undefined;
  /** The newest head known when a loss was noticed, until the loss is accepted. */
  readonly lost: Head | undefined;
}

/** The path of the anchor of a journal. */
export function anchorPath(path: string): string {
  return `${path}-head`;
}

/** A slot lies within one disk sector, so it is written completely or not at all. */
const SLOT_BYTES = 256;
const NEWLINE = 10;
const LOST_AT = SLOT_BYTES;
const FILE_BYTES = 2 * SLOT_BYTES;

/** @throws the operating system's error */
export function readAnchor(path: string): AnchorText {
  return toAnchor(readFixedFile(anchorPath(path), FILE_BYTES));
}

/** An anchor that is kept up to date. */
export class JournalAnchor {
  readonly #file: FixedFile;
  readonly #slot = Buffer.alloc(SLOT_BYTES);

  /** @throws the operating system's error */
  constructor(path: string) {
    this.#file = openFixedFile(anchorPath(path), FILE_BYTES);
  }

  read(): AnchorText {
    return toAnchor(this.#file.read());
  }

  /** If two processes write, the slower one may leave an older head; an older anchor is still valid. */
  move(head: Head): void {
    this.#write(0, toText('head', head));
  }

  /** Remembers that commits up to this one were once recorded; undefined once the loss is accepted. */
  remember(lost: Head | undefined): void {
    this.#write(LOST_AT, lost === undefined ? '' : toText('lost', lost));
  }

  close(): void {
    this.#file.close();
  }

  // If the write is refused, an older anchor remains, which is still valid.
  #write(offset: number, text: string): void {
    this.#slot.fill(' ');
    this.#slot.write(text, 'latin1');
    this.#slot[SLOT_BYTES - 1] = NEWLINE;
    this.#file.write(offset, this.#slot);
  }
}

function toText(name: 'head' | 'lost', { commit, hash }: Head): string {
  // The number at the end shows that the line is complete.
  return `${name} ${commit} ${hash} ${commit}`;
}

function toAnchor(text: string): AnchorText {
  return { head: fromSlot('head', text), lost: fromSlot('lost', text.slice(LOST_AT)) };
}

const SLOT = /^(\w+) (\d{1,16}) ([0-9a-f]{64}|) (\d{1,16})$/;

/** Undefined if the slot was written incompletely, or never. */
function fromSlot(name: 'head' | 'lost', text: string): Head | undefined {
  const [, found, commit, hash = '', again] = SLOT.exec(text.slice(0, SLOT_BYTES).trimEnd()) ?? [];
  return found === name && commit === again ? { commit: Number(commit), hash } : undefined;
}

/** If only the write-ahead log is removed, and not the file, that is noticed within this time. */
const LOG_LOOKED_AT_EVERY_MS = 50;

/**
 * Watches an open journal: after each commit it checks that the file that took the commit is still the one
 * under the journal's name, and moves the anchor. SQLite itself would continue writing into a removed file.
 */
export class JournalWatch {
  readonly #path: string;
  readonly #log: string;
  readonly #anchor: JournalAnchor;
  readonly #file: FileIdentity | undefined;
  /** The write-ahead log, created with the first commit. */
  #logFile: FileIdentity | undefined = undefined;
  #logLookedAt = 0;

  constructor(path: string, anchor: JournalAnchor) {
    this.#path = path;
    this.#log = `${path}-wal`;
    this.#anchor = anchor;
    this.#file = fileIdentity(path);
  }

  /**
   * @param commit the last commit of the chain and its hash.
   * @param durable `later`: a power failure may take it back, so the anchor stays where it is
   * @throws ToolError `journal_unavailable` if the commit went into a file that was removed or replaced.
   */
  committed(commit: number, hash: string, durable: Durability): void {
    if (this.#file !== undefined && !leadsTo(this.#path, this.#file)) throw this.#gone('its file');
    this.#lookAtLog();
    if (durable === 'now') this.#anchor.move({ commit, hash });
  }

  /** Makes the remaining commits durable. @throws the operating system's error */
  sync(commit: number, hash: string): void {
    syncFile(this.#log);
    this.#anchor.move({ commit, hash });
  }

  /** This connection created a new write-ahead log while no other connection had the journal open. */
  logRenewed(): void {
    this.#logFile = undefined;
  }

  /** The loss is accepted: the journal continues from here. */
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
      'Its newest records may be lost. Put the file back, or start again with the file that is there.',
      { details: { path: this.#path } },
    );
  }
}

/** A journal that lacks data which, according to its anchor, was recorded. */
export interface JournalLoss {
  /**
   * `older`: it ends earlier. `other`: it has a different commit at that place. `earlier`: noticed before,
   * and not accepted.
   */
  readonly kind: 'older' | 'other' | 'earlier';
  /** The newest known head. */
  readonly known: Head;
  /** The current end of the journal. */
  readonly held: Head;
}

/** The value of `problem` in a log line about a loss. */
export const JOURNAL_LOSS = 'journal_loss';

const HASH_OF = 'SELECT hash FROM commits WHERE number = ?';

/** Compares a journal with its anchor. */
export function findLoss(database: JournalDatabase, { head, lost }: AnchorText): JournalLoss | undefined {
  const held = database.head();
  if (lost !== undefined) return { kind: 'earlier', known: lost, held };
  if (head === undefined) return undefined;
  if (held.commit < head.commit) return { kind: 'older', known: head, held };
  // A commit whose rows were pruned may be missing; of the others, only the hash is left.
  const found = head.commit === 0 ? undefined : database.prepared(HASH_OF).get(head.commit)?.hash;
  return found === undefined || found === head.hash ? undefined : { kind: 'other', known: head, held };
}

/** The fault, as the end of a sentence about the journal. */
export function describeLoss({ kind, known, held }: JournalLoss): string {
  switch (kind) {
    case 'older':
      return `it ends with commit ${held.commit}, but commit ${known.commit} was recorded`;
    case 'other':
      return `its commit ${known.commit} is not the one that was recorded`;
    case 'earlier':
      return `commits up to ${known.commit} were recorded once, and some of them were lost`;
  }
}

/** The loss of a journal whose file is missing while its anchor exists. */
export function lossOfMissing({ head, lost }: AnchorText): JournalLoss | undefined {
  const known = lost ?? head;
  const isEmpty = known === undefined || known.commit === 0;
  return isEmpty ? undefined : { kind: 'older', known, held: { commit: 0, hash: '' } };
}

/** A message for the person: what the loss means, and what to do. */
export function lossWarning(path: string, loss: JournalLoss): string {
  return (
    `The journal "${path}" may have lost commits: ${describeLoss(loss)}. Calls of these commits may run again. ` +
    'Restore the newest copy. If the file was restored or removed on purpose, accept its current state: ' +
    `toolexec journal verify --accept --journal ${JSON.stringify(path)}`
  );
}

/** The same as an error. */
export function journalIsOlder(path: string, loss: JournalLoss): ToolError {
  return new ToolError('journal_unavailable', lossWarning(path, loss), { details: lossDetails(path, loss) });
}

export function lossDetails(path: string, { known, held }: JournalLoss): JsonObject {
  return { problem: JOURNAL_LOSS, path, recorded: known.commit, held: held.commit };
}
