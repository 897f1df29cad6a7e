import type { ToolContext } from '../../contract/context.js';
import { ToolError } from '../../errors/tool-error.js';
import { decodeText, looksBinary, type ReadOutcome, SNIFF_BYTES } from './read-outcome.js';
import type { ReadRange } from './read-range.js';
import type { SequentialReader } from './sequential-reader.js';

type LineRange = Extract<ReadRange, { kind: 'lines' }>;

const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

/**
 * The lines of a range with their line ends; empty if the file has fewer lines. Only LF ends a line.
 * @throws ToolError `bad_args` for a binary file, `execution_failed` if the range ends beyond the scan limit
 * (D064).
 */
export async function readLineRange(
  path: string,
  range: LineRange,
  reader: SequentialReader,
  ctx: ToolContext,
): Promise<ReadOutcome> {
  if (looksBinary(await reader.peek(SNIFF_BYTES))) throw binaryLines(path);
  const scan = new LineScan(range, ctx.limits.maxReadFileScanBytes);
  while (!scan.done) {
    const chunk = await reader.next(CHUNK_BYTES);
    if (chunk.length === 0) break;
    scan.take(chunk);
  }
  if (scan.overLimit) throw beyondScan(path, range, ctx.limits.maxReadFileScanBytes);
  const bytes = scan.collected();
  const text = decodeText(bytes);
  if (text === undefined) throw binaryLines(path);
  const lines = Math.max(0, scan.lastLine - range.first + 1);
  return {
    text,
    metadata: { encoding: 'utf-8', bytes_read: bytes.length, start_line: range.first, lines_read: lines },
    truncatable: true,
  };
}

/** Counts line ends in chunks and keeps the bytes of the range. */
class LineScan {
  done = false;
  overLimit = false;
  /** The last line that contained bytes. */
  lastLine = 0;
  #line = 1;
  #scanned = 0;
  readonly #kept: Uint8Array[] = [];
  readonly #range: LineRange;
  readonly #maxBytes: number;

  constructor(range: LineRange, maxBytes: number) {
    this.#range = range;
    this.#maxBytes = maxBytes;
  }

  take(chunk: Uint8Array): void {
    const usable = chunk.subarray(0, this.#maxBytes - this.#scanned);
    let keptFrom = this.#line >= this.#range.first ? 0 : -1;
    let at = 0;
    while (at < usable.length) {
      this.lastLine = this.#line;
      const end = usable.indexOf(LF, at);
      if (end === -1) break;
      at = end + 1;
      if (this.#line === this.#range.last) {
        this.#kept.push(usable.subarray(Math.max(keptFrom, 0), at));
        this.done = true;
        return;
      }
      this.#line++;
      if (this.#line === this.#range.first) keptFrom = at;
    }
    if (keptFrom >= 0) this.#kept.push(usable.subarray(keptFrom));
    this.#scanned += usable.length;
    if (usable.length < chunk.length) this.done = this.overLimit = true;
  }

  collected(): Uint8Array {
    return Buffer.concat(this.#kept);
  }
}

function binaryLines(path: string): ToolError {
  return new ToolError(
    'bad_args',
    `Cannot read lines of ${path}: it is a binary file. Read it without start_line and end_line.`,
  );
}

function beyondScan(path: string, range: LineRange, maxBytes: number): ToolError {
  const wanted = Number.isFinite(range.last)
    ? `lines ${range.first}-${range.last}`
    : `line ${range.first} onwards`;
  return new ToolError(
    'execution_failed',
    `cannot read ${wanted} of ${path}: the range ends beyond the scan limit of ${maxBytes} bytes. ` +
      'Narrow the range to lines nearer the start, or read a slice of bytes with offset and limit.',
  );
}
