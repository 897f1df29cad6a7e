/** Characters (code points) that are kept from the start of a command's output (F004). */
export const HEAD_CHARACTERS = 30_000;
/** Characters that are kept from its end when it is longer than that. */
export const TAIL_CHARACTERS = 2_000;

/**
 * Output of more than 30000 characters: the first 30000, a notice with the size, the last 2000 (of the rest).
 * `totalBytes` is given where `text` is itself only a part of what was printed, `outputRef` where all of it can be read.
 */
export function shortenOutput(
  text: string,
  totalBytes?: number,
  outputRef?: string,
): { text: string; truncated: boolean } {
  const headEnd = indexAfter(text, HEAD_CHARACTERS);
  if (headEnd === text.length) return { text, truncated: false };
  const rest = text.slice(headEnd);
  const tail = rest.slice(indexBefore(rest, TAIL_CHARACTERS));
  const size =
    totalBytes === undefined
      ? `${HEAD_CHARACTERS + countCharacters(rest)} characters`
      : `${totalBytes} bytes`;
  const remedy = outputRef === undefined ? '' : `; read_file gives any part of it, path "${outputRef}"`;
  const notice =
    `\n\n[Output truncated: ${size} in total; ` +
    `the first ${HEAD_CHARACTERS} and the last ${countCharacters(tail)} characters are shown${remedy}]\n\n`;
  return { text: text.slice(0, headEnd) + notice + tail, truncated: true };
}

/** The index behind the first `count` characters. */
function indexAfter(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** The index of the first of the last `count` characters. */
function indexBefore(text: string, count: number): number {
  let at = text.length;
  for (let left = count; left > 0 && at > 0; left--) at -= at > 1 && isPairAt(text, at - 2) ? 2 : 1;
  return at;
}

function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
