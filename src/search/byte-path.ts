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

/** Cuts a stream of NUL-terminated paths into byte strings. What is left at the end is no whole path. */
export function createPathSplitter(take: (path: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let from = 0;
    for (let end = text.indexOf('\0'); end !== -1; end = text.indexOf('\0', from)) {
      take(text.slice(from, end));
      from = end + 1;
    }
    rest = text.slice(from);
  };
}
