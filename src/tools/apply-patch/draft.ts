import { type ByteText, LineBuffer } from './line-buffer.js';

/** The lines of a draft. They are changed in place. */
export interface DraftText {
  readonly lines: LineBuffer;
  readonly boundary: TextFile['boundary'];
  readonly flaw?: Flaw;
  finalNewline: boolean;
}

/**
 * A file in memory while a patch is applied. It is split into lines once, for any number of steps, and joined
 * at the end.
 */
export class Draft {
  #bytes: Uint8Array | undefined;
  #text: DraftText | undefined;

  /** Undefined: the file does not exist. */
  constructor(bytes: Uint8Array | undefined) {
    this.#bytes = bytes;
  }

  get exists(): boolean {
    return this.#bytes !== undefined || this.#text !== undefined;
  }

  /** An empty text if the file does not exist. */
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

  /** Moves the content; nothing remains here. */
  moveTo(target: Draft): void {
    if (target === this) return;
    target.#bytes = this.#bytes;
    target.#text = this.#text;
    this.remove();
  }
}

/** A file as lines, with its final newline and its line ending (LF if it has none). */
interface TextFile {
  readonly lines: readonly ByteText[];
  readonly finalNewline: boolean;
  readonly boundary: '\n' | '\r\n';
}

const EMPTY_FILE: TextFile = { lines: [], finalNewline: false, boundary: '\n' };

/** A fault in a text file and its line, from 1. */
interface Flaw {
  readonly line: number;
  readonly what: string;
}

function readTextFile(bytes: Uint8Array): TextFile & { readonly flaw?: Flaw } {
  if (bytes.length === 0) return EMPTY_FILE;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const lines = text.split('\n');
  const finalNewline = text.endsWith('\n');
  if (finalNewline) lines.pop();
  if (!text.includes('\r')) return { lines, finalNewline, boundary: '\n' };
  const flaw = findFlaw(lines, finalNewline);
  // A file with mixed line endings counts as LF, and some of its lines end in a CR.
  if (flaw !== undefined) return { lines, finalNewline, boundary: '\n', flaw };
  const last = lines.length - 1;
  const stripped = lines.map((line, index) => (index === last && !finalNewline ? line : line.slice(0, -1)));
  return { lines: stripped, finalNewline, boundary: '\r\n' };
}

function writeTextFile({ lines, finalNewline, boundary }: TextFile): Uint8Array {
  const end = finalNewline && lines.length > 0 ? boundary : '';
  return Buffer.from(lines.join(boundary) + end, 'latin1');
}

/** Why these lines, split at LF, do not all end in CRLF. */
function findFlaw(lines: readonly ByteText[], finalNewline: boolean): Flaw | undefined {
  const ended = finalNewline ? lines.length : lines.length - 1;
  for (const [index, line] of lines.entries()) {
    const crlf = index < ended && line.endsWith('\r');
    const cr = line.indexOf('\r');
    if (cr !== -1 && cr < line.length - (crlf ? 1 : 0)) {
      return { line: index + 1, what: 'Bare CR in file: a carriage return without a line feed' };
    }
    if (index < ended && crlf !== lines[0]?.endsWith('\r')) {
      return { line: index + 1, what: `Mixed EOL in file: ${crlf ? 'CRLF after LF' : 'LF after CRLF'}` };
    }
  }
  return undefined;
}
