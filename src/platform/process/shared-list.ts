import { randomBytes } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openUnnamedFile } from '../fs/scratch.js';

/**
 * A list that another process can read at any moment, even after this one was killed. It is a file without a
 * name, with a line of fixed length for each entry, blank if free. Changing it costs a few microseconds and
 * wakes no process.
 */
export class SharedList {
  /** The descriptor for the other process to inherit. This process never moves its file position. */
  readonly fd: number;
  readonly #free: number[] = [];
  #lines = 0;

  /** @throws the system's error. */
  constructor() {
    this.fd = openUnnamedFile(0o600) ?? openUnlinked();
  }

  /**
   * Adds a line for the entry.
   * @throws the system's error; RangeError for an entry that is too long.
   */
  add(text: string): ListEntry {
    const line = this.#free.at(-1) ?? this.#lines;
    this.#write(line, text);
    // Counted only after the write: if the disk is full, nothing has been taken.
    if (this.#free.pop() === undefined) this.#lines++;
    let isIn = true;
    return {
      change: (changed) => {
        if (isIn) this.#write(line, changed);
      },
      remove: () => {
        if (!isIn) return;
        isIn = false;
        this.#write(line, '');
        this.#free.push(line);
      },
    };
  }

  close(): void {
    closeSync(this.fd);
  }

  // Written at once: a line lies within one page, so a kill cannot cut it in two.
  #write(line: number, text: string): void {
    if (text.length >= LINE) throw new RangeError(`An entry has at most ${LINE - 1} characters.`);
    writeSync(this.fd, `${text.padEnd(LINE - 1)}\n`, line * LINE, 'latin1');
  }
}

/** For systems on which every file must have a name at first. */
function openUnlinked(): number {
  const path = join(tmpdir(), `toolexec-${randomBytes(12).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return fd;
}

export interface ListEntry {
  change(text: string): void;
  remove(): void;
}

/** A page is a multiple of this length. */
const LINE = 128;
