/*
 * Names need not be text. While they are collected, paths are byte strings: one character (U+0000 to U+00FF) for each
 * byte. Nothing is lost, and their order is that of the bytes, which is that of Unicode's code points.
 */

const NOT_ASCII = /[\x80-\xff]/;

/** As text; bytes that are none become U+FFFD. */
export function toText(path: string): string {
  return NOT_ASCII.test(path) ? toBytes(path).toString('utf8') : path;
}

export function toBytes(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

/** A copy of its own: a part of a text keeps the whole text in memory. */
export function detach(path: string): string {
  return Buffer.from(path, 'latin1').toString('latin1');
}

/** Takes the path `text.slice(from, end)`, a byte string; `slash` is the last one in it. */
export type TakePath = (text: string, from: number, slash: number, end: number) => void;

/** Cuts a stream of NUL-terminated paths, each with a slash. What is left at the end is no whole path. */
export function createPathSplitter(take: TakePath): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let from = 0;
    for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', from)) {
      take(text, from, text.lastIndexOf('/', end), end);
      from = end + 1;
    }
    rest = text.slice(from);
  };
}
