/** The lines of a patch text. Written with CRLF throughout, they lose the CR; else a CR belongs to its line. */
export function patchLines(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const isCrlf = lines.every((line, at) => line.endsWith('\r') || at === lines.length - 1);
  return isCrlf ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

/** Lines of a patch as they are compared with a file's: where the file ends its lines in CRLF, the CR is no part of them. */
export function withoutCr(lines: readonly string[], boundary: '\n' | '\r\n'): readonly string[] {
  if (boundary === '\n') return lines;
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}
