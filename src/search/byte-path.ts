/*
 * File names need not be text. While they are collected, paths are byte strings: one character (U+0000 to
 * U+00FF) per byte. Nothing is lost, and they sort by bytes, which equals the order of Unicode code points.
 */

const NOT_ASCII = /[\x80-\xff]/;

/** Decodes UTF-8; invalid bytes become U+FFFD. */
export function toText(path: string): string {
  return NOT_ASCII.test(path) ? toBytes(path).toString('utf8') : path;
}

export function toBytes(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

/** A separate copy: a substring keeps its whole source in memory. */
export function detach(path: string): string {
  return Buffer.from(path, 'latin1').toString('latin1');
}

/** Receives the path `text.slice(from, end)`, a byte string; `slash` is the index of its last slash. */
export type TakePath = (text: string, from: number, slash: number, end: number) => void;

/** Splits a stream of NUL-terminated paths, each with a slash. An incomplete path at the end is ignored. */
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
