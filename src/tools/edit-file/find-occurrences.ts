/** Where bytes stand in others. */
export interface Occurrences {
  /** As many as could be replaced one after the other. */
  readonly count: number;
  /** The first of them, at most twenty. */
  readonly starts: readonly number[];
  /** A match begins inside the first one: `aa` in `aaa`. */
  readonly overlap: boolean;
}

const LISTED = 20;

export function findOccurrences(bytes: Buffer, sought: Uint8Array): Occurrences {
  const starts: number[] = [];
  let count = 0;
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, at + sought.length)) {
    count++;
    if (starts.length < LISTED) starts.push(at);
  }
  const [first] = starts;
  const next = first === undefined ? -1 : bytes.indexOf(sought, first + 1);
  return { count, starts, overlap: first !== undefined && next !== -1 && next < first + sought.length };
}

/** All of them replaced, from the left; what stands between is copied byte by byte. */
export function replaceOccurrences(
  bytes: Buffer,
  sought: Uint8Array,
  replacement: Uint8Array,
  count: number,
): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + count * (replacement.length - sought.length));
  let from = 0;
  let to = 0;
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, from)) {
    to += bytes.copy(result, to, from, at);
    result.set(replacement, to);
    to += replacement.length;
    from = at + sought.length;
  }
  bytes.copy(result, to, from);
  return result;
}

/** The numbers of the lines, from 1, on which ascending offsets lie. */
export function lineNumbers(bytes: Buffer, offsets: readonly number[]): number[] {
  let line = 1;
  let next = bytes.indexOf(LF);
  return offsets.map((offset) => {
    for (; next !== -1 && next < offset; next = bytes.indexOf(LF, next + 1)) line++;
    return line;
  });
}

const LF = 0x0a;
