import type { SearchLine, TextSearch } from '../contract/search.js';

/** Receives ripgrep's results in order. `name` is the file's name when ripgrep was started. */
export interface ResultSink {
  file(name: string, count: number): void;
  line(name: string, line: Exclude<SearchLine, { kind: 'gap' }>): void;
  /** Lines were skipped, or a file ended. */
  gap(): void;
  /** The file matches and is not text. */
  binary(name: string): void;
  /** A record without an end. */
  overflow(): void;
}

/** A record is a name, a NUL, and a line. Far longer than any shortened line. */
const MAX_RECORD = 4 * 1024 * 1024;

/**
 * Parses ripgrep's plain output with `--null`: unlike its JSON output, it shortens lines of several
 * megabytes.
 */
export function createResultParser(want: TextSearch['want'], sink: ResultSink): (chunk: Buffer) => void {
  const next = want === 'files' ? nextName : want === 'counts' ? nextCount : nextLine;
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    let from = 0;
    for (let end = next(text, from, sink); end !== undefined; end = next(text, from, sink)) from = end;
    rest = text.slice(from);
    if (rest.length > MAX_RECORD) sink.overflow();
  };
}

/** Reads the record at `from` and returns its end; undefined if it is incomplete. */
type NextRecord = (text: string, from: number, sink: ResultSink) => number | undefined;

const nextName: NextRecord = (text, from, sink) => {
  const end = text.indexOf('\0', from);
  if (end === -1) return undefined;
  sink.file(text.slice(from, end), 0);
  return end + 1;
};

const nextCount: NextRecord = (text, from, sink) => {
  const end = text.indexOf('\n', from);
  if (end === -1) return undefined;
  const [name = '', count] = text.slice(from, end).split('\0');
  sink.file(name, Number(count));
  return end + 1;
};

const nextLine: NextRecord = (text, from, sink) => {
  const end = text.indexOf('\n', from);
  if (end === -1) return undefined;
  const record = text.slice(from, end);
  const nul = record.indexOf('\0');
  if (nul === 0) {
    sink.gap();
    return end + 1;
  }
  const [all, number, mark] = /^(\d+)([:-])/.exec(record.slice(nul + 1, nul + 24)) ?? [];
  if (nul === -1 || all === undefined) {
    const [, name] =
      /^(.*): (?:binary file matches|WARNING: stopped searching binary file)/.exec(record) ?? [];
    if (name !== undefined) sink.binary(name);
    return end + 1;
  }
  sink.line(record.slice(0, nul), {
    kind: mark === ':' ? 'match' : 'context',
    number: Number(number),
    text: decode(record.slice(nul + 1 + all.length)),
  });
  return end + 1;
};

function decode(bytes: string): string {
  const line = bytes.endsWith('\r') ? bytes.slice(0, -1) : bytes;
  return /[\x80-\xff]/.test(line) ? Buffer.from(line, 'latin1').toString('utf8') : line;
}
