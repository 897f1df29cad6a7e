import type { FileMatches, SearchLine, TextSearch } from '../contract/search.js';
import { descriptorPath } from '../platform/process/spawn-reader.js';
import { createResultParser, type ResultSink } from './parse-results.js';
import { runRipgrep } from './ripgrep.js';
import { patternArguments, resultArguments } from './text-arguments.js';

export interface OpenFile {
  /** The name for tools. */
  readonly path: string;
  readonly descriptor: number;
}

export interface ReadRequest {
  readonly files: readonly OpenFile[];
  readonly roots: readonly string[];
  readonly request: TextSearch;
  readonly signal: AbortSignal;
  /** The remaining limits; reduced with each result. */
  readonly room: { results: number; bytes: number };
}

export interface MatchesRead {
  /** The matching files in the given order. */
  readonly files: readonly FileMatches[];
  /** Some results did not fit. */
  readonly more: boolean;
  readonly unreadable: boolean;
  readonly stopped: boolean;
}

/** Searches open files one after the other until the limits are reached. */
export async function readMatches({
  files,
  roots,
  request,
  signal,
  room,
}: ReadRequest): Promise<MatchesRead> {
  if (files.length === 0) return { files: [], more: false, unreadable: false, stopped: false };
  const names = files.map((_, index) => descriptorPath(index));
  const results = new Results(new Map(names.map((name, index) => [name, files[index]?.path ?? name])), room);
  const parse = createResultParser(request.want, results);
  const end = await runRipgrep({
    args: [
      ...patternArguments(request),
      ...resultArguments(request),
      ...(request.type === undefined ? [] : [`--type=${request.type}`]),
      // They are already in the wanted order.
      '--threads=1',
      '--no-ignore',
      '--hidden',
      '--',
      ...names,
    ],
    cwd: '/',
    under: [],
    roots,
    inherit: files.map(({ descriptor }) => descriptor),
    signal,
    onOutput(chunk) {
      parse(chunk);
      return results.isFull ? 'enough' : undefined;
    },
  });
  return { ...end, files: results.files, more: results.isFull };
}

interface Collected {
  readonly path: string;
  count: number;
  readonly lines: SearchLine[];
  binary: boolean;
}

class Results implements ResultSink {
  readonly files: Collected[] = [];
  /** A result did not fit. */
  isFull = false;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #room: ReadRequest['room'];
  #name: string | undefined;
  #hasGap = false;

  constructor(paths: ReadonlyMap<string, string>, room: ReadRequest['room']) {
    this.#paths = paths;
    this.#room = room;
  }

  file(name: string, count: number): void {
    if (!this.#take(0)) return;
    this.#fileOf(name).count = count;
  }

  line(name: string, line: Exclude<SearchLine, { kind: 'gap' }>): void {
    if (!this.#take(line.text.length)) return;
    const isSameFile = this.#name === name;
    const { lines } = this.#fileOf(name);
    if (this.#hasGap && isSameFile) lines.push({ kind: 'gap' });
    this.#hasGap = false;
    lines.push(line);
  }

  gap(): void {
    this.#hasGap = true;
  }

  binary(name: string): void {
    if (!this.isFull) this.#fileOf(name).binary = true;
  }

  overflow(): void {
    this.isFull = true;
  }

  #take(bytes: number): boolean {
    if (this.isFull || this.#room.results <= 0 || this.#room.bytes <= 0) {
      this.isFull = true;
      return false;
    }
    this.#room.results--;
    this.#room.bytes -= bytes;
    return true;
  }

  #fileOf(name: string): Collected {
    const last = this.files.at(-1);
    if (last !== undefined && this.#name === name) return last;
    this.#name = name;
    const started: Collected = { path: this.#paths.get(name) ?? name, count: 0, lines: [], binary: false };
    this.files.push(started);
    return started;
  }
}
