import { LineBuffer } from './line-buffer.js';
import { EMPTY_FILE, type Flaw, type TextFile, readTextFile, writeTextFile } from './text-file.js';

/** The lines of a draft, to be changed in place. */
export interface DraftText {
  readonly lines: LineBuffer;
  readonly boundary: TextFile['boundary'];
  readonly flaw?: Flaw;
  finalNewline: boolean;
}

/**
 * A file in memory between the first step of a patch and the last. It is taken apart into lines once, however many
 * steps there are, and put together at the end.
 */
export class Draft {
  #bytes: Uint8Array | undefined;
  #text: DraftText | undefined;

  /** Undefined: there is no file. */
  constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes;
  }

  get exists(): boolean {
    return this.#bytes !== undefined || this.#text !== undefined;
  }

  /** An empty file where there is none. */
  text(): DraftText {
    if (this.#text === undefined) {
      const { lines, ...rest } = this.#bytes === undefined ? EMPTY_FILE : readTextFile(this.#bytes);
      this.#text = { ...rest, lines: new LineBuffer(lines) };
    }
    return this.#text;
  }

  bytes(): Uint8Array | undefined {
    return this.#text === undefined
      ? this.#bytes
      : writeTextFile({ ...this.#text, lines: this.#text.lines.texts() });
  }

  become(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#text = undefined;
  }

  remove(): void {
    this.#bytes = undefined;
    this.#text = undefined;
  }

  /** Leaves nothing where it was. */
  moveTo(target: Draft): void {
    if (target === this) return;
    target.#bytes = this.#bytes;
    target.#text = this.#text;
    this.remove();
  }
}
