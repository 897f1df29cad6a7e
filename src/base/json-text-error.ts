/** Says where a JSON text is wrong and how to mend it, in words that can be handed to a model. */
export class JsonTextError extends Error {
  /** UTF-16 code units from the start of the text. */
  readonly position: number;
  /** Both count from 1; the column counts UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  /** The message without its opening, for a sentence that already says what was parsed. */
  readonly detail: string;

  constructor(text: string, position: number, problem: string) {
    const { line, column } = toPlace(text, position);
    const detail = `line ${line}, column ${column}: ${problem}`;
    super(`Cannot parse the JSON: ${detail}`);
    this.name = 'JsonTextError';
    this.position = position;
    this.line = line;
    this.column = column;
    this.detail = detail;
  }
}

function toPlace(text: string, position: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: position - lineStart + 1 };
}
