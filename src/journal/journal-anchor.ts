import { type FixedFile, openFixedFile, readFixedFile } from '../platform/fixed-file.js';

/** Where a journal's chain of commits ended. */
export interface Head {
  /** The last commit; 0 before the first. */
  readonly commit: number;
  /** Its hash; empty before the first. */
  readonly hash: string;
}

/**
 * The anchor of a journal: a small file beside it that says where its chain of commits ended. It is written after a
 * commit is on the disk, and not synced. So an anchor may be older than its journal; a journal that is older than its
 * anchor has lost commits.
 */
export interface AnchorText {
  /** The newest head that is known; undefined where none is. */
  readonly head: Head | undefined;
  /** The newest head that was known when a loss was noticed, until that is accepted. */
  readonly lost: Head | undefined;
}

/** Where the anchor of the journal at `path` lies. */
export function anchorPath(path: string): string {
  return `${path}-head`;
}

/** A slot lies in one sector of a disk: it is there whole, or as it was. */
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

  /** Of two processes the slower may say less than is there: an older anchor is a good one. */
  move(head: Head): void {
    this.#write(0, toText('head', head));
  }

  /** Remembers that commits up to this one were recorded once; undefined: that is accepted. */
  remember(lost: Head | undefined): void {
    this.#write(LOST_AT, lost === undefined ? '' : toText('lost', lost));
  }

  close(): void {
    this.#file.close();
  }

  // A write that is refused leaves an older anchor, and that is a good one.
  #write(offset: number, text: string): void {
    this.#slot.fill(' ');
    this.#slot.write(text, 'latin1');
    this.#slot[SLOT_BYTES - 1] = NEWLINE;
    this.#file.write(offset, this.#slot);
  }
}

function toText(name: 'head' | 'lost', { commit, hash }: Head): string {
  // The number at the end shows that all of it is there.
  return `${name} ${commit} ${hash} ${commit}`;
}

function toAnchor(text: string): AnchorText {
  return { head: fromSlot('head', text), lost: fromSlot('lost', text.slice(LOST_AT)) };
}

const SLOT = /^(\w+) (\d{1,16}) ([0-9a-f]{64}|) (\d{1,16})$/;

/** Undefined for what was not written whole, and for what was never written. */
function fromSlot(name: 'head' | 'lost', text: string): Head | undefined {
  const [, found, commit, hash = '', again] = SLOT.exec(text.slice(0, SLOT_BYTES).trimEnd()) ?? [];
  return found === name && commit === again ? { commit: Number(commit), hash } : undefined;
}
