/** An error in a JSON text, with its position and a remedy. The message may be shown to a model. */
export class JsonTextError extends Error {
  /** UTF-16 code units from the start of the text. */
  readonly position: number;
  /** Counted from 1; the column counts UTF-16 code units. */
  readonly line: number;
  readonly column: number;
  /** The message without its prefix, for a sentence that already names the parsed text. */
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
