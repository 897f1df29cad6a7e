/** A text as one word for a POSIX shell, always in quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if the word needs none: for lines that people and rules read. */
export function quoteWord(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : quoted(word);
}
