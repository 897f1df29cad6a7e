import { unfitPatch, unreadablePatch } from '../patch-error.js';
import { type PatchStep, patchLines } from '../patch-step.js';
import { applyChunks, type Chunk } from './apply-chunks.js';

/**
 * Parses the format between `*** Begin Patch` and `*** End Patch` (Add File, Delete File, Update File with
 * Move to). Space around markers and a surrounding here-document are tolerated, nothing else.
 * @throws ToolError `patch_failed` with the line
 */
export function parseBeginPatch(text: string): PatchStep[] {
  return new Parser(patchLines(text)).steps();
}

const MARK = '*** ';
const ADD = '*** Add File:';
const DELETE = '*** Delete File:';
const UPDATE = '*** Update File:';
const MOVE = '*** Move to:';
const END_OF_FILE = '*** End of File';

class Parser {
  readonly #lines: readonly string[];
  /** Index of the next line. */
  #at = 0;
  #end: number;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
    this.#end = lines.length;
  }

  steps(): PatchStep[] {
    this.#enter();
    const steps: PatchStep[] = [];
    while (this.#at < this.#end) {
      const line = (this.#next() ?? '').trim();
      if (line !== '') steps.push(this.#file(line));
    }
    return steps;
  }

  /** Finds the first and last line. */
  #enter(): void {
    this.#skipBlank();
    const isHeredoc = this.#peek()?.trim().startsWith('<<') === true;
    if (isHeredoc) this.#at++;
    this.#at++;
    while (this.#lines[this.#end - 1]?.trim() === '') this.#end--;
    if (isHeredoc && this.#lines[this.#end - 1]?.trim() === 'EOF') this.#end--;
    this.#end--;
    if (this.#lines[this.#end]?.trim() === '*** End Patch' && this.#end >= this.#at) return;
    throw unreadablePatch(this.#lines.length, "the last line of the patch must be '*** End Patch'.");
  }

  #file(header: string): PatchStep {
    const line = this.#at;
    if (header.startsWith(ADD)) return this.#add(this.#path(header, ADD), line);
    if (header.startsWith(DELETE)) return deleteStep(this.#path(header, DELETE), line);
    if (header.startsWith(UPDATE)) return this.#update(this.#path(header, UPDATE), line);
    const known = "'*** Add File: <path>', '*** Delete File: <path>' and '*** Update File: <path>'";
    throw this.#wrong(`${show(header)} begins no file. Files begin with ${known}.`);
  }

  #add(path: string, line: number): PatchStep {
    const added: string[] = [];
    for (let next = this.#peek(); next?.startsWith('+') === true; next = this.#peek()) {
      added.push(next.slice(1));
      this.#at++;
    }
    return {
      ...{ line, path, effect: 'write', added },
      *run(draft) {
        if (draft.exists) {
          throw unfitPatch({ path, line }, 'the file exists already. Use *** Update File to change it.');
        }
        yield;
        draft.become(Buffer.from(added.map((text) => `${text}\n`).join(''), 'utf8'));
      },
    };
  }

  #update(path: string, line: number): PatchStep {
    const move = this.#peek()?.trim();
    const to = move?.startsWith(MOVE) === true ? this.#path(move, MOVE, ++this.#at) : undefined;
    const chunks: Chunk[] = [];
    for (;;) {
      this.#skipBlank();
      const next = this.#peek();
      if (next === undefined || next.startsWith(MARK)) break;
      chunks.push(this.#chunk(chunks.length === 0));
    }
    if (chunks.length === 0 && to === undefined)
      throw unreadablePatch(line, `the update of ${path} is empty.`);
    const added = chunks.flatMap((chunk) => chunk.added);
    return {
      ...{ line, path, added },
      ...(to === undefined ? { effect: 'write' } : { effect: 'move', to }),
      run: (draft) => applyChunks({ path, line }, chunks, draft),
    };
  }

  #chunk(isFirst: boolean): Chunk {
    const line = this.#at + 1;
    const contexts: { line: number; text: string }[] = [];
    for (let next = this.#peek(); next?.startsWith('@@') === true; next = this.#peek()) {
      this.#at++;
      if (next.trim() !== '@@') contexts.push({ line: this.#at, text: this.#context(next) });
      else if (contexts.length > 0) throw this.#wrong('an empty @@ after one that names a line.');
    }
    if (this.#at === line - 1 && !isFirst) throw this.#wrongNext('a hunk begins with @@');
    return { line, contexts, ...this.#body() };
  }

  #context(header: string): string {
    if (header.startsWith('@@ -') && / @@/.test(header)) {
      throw this.#wrong(
        'this format has no line numbers: write @@, or @@ and a line of the file above the change.',
      );
    }
    if (!header.startsWith('@@ '))
      throw this.#wrong('a space is required between @@ and the line that it names.');
    const text = header.slice(3);
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }

  #body(): Omit<Chunk, 'line' | 'contexts'> {
    const old: string[] = [];
    const fresh: string[] = [];
    const added: string[] = [];
    let trailingBlanks = 0;
    let lastIsAdded = false;
    const from = this.#at;
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) {
      const isEnd = next.trim() === END_OF_FILE;
      if (isEnd || next.startsWith(MARK) || next.startsWith('@@')) break;
      this.#at++;
      const mark = next[0] ?? '';
      if (!' +-'.includes(mark))
        throw this.#wrong(`${show(next)} is not a line of a hunk: they begin with a blank, + or -.`);
      const text = next.slice(1);
      trailingBlanks = mark === '' ? trailingBlanks + 1 : 0;
      lastIsAdded = mark === '' ? lastIsAdded : mark === '+';
      if (mark !== '+') old.push(text);
      if (mark !== '-') fresh.push(text);
      if (mark === '+') added.push(text);
    }
    if (this.#at === from) throw this.#wrongNext('a hunk has lines');
    const atEnd = this.#peek()?.trim() === END_OF_FILE;
    if (atEnd) this.#at++;
    return { old, fresh, added, trailingBlanks, lastIsAdded, atEnd };
  }

  #path(header: string, mark: string, line = this.#at): string {
    const path = header.slice(mark.length).trim();
    if (path === '') throw unreadablePatch(line, `Missing file path after ${show(mark)}.`);
    return path;
  }

  #skipBlank(): void {
    while (this.#peek()?.trim() === '') this.#at++;
  }

  #peek(): string | undefined {
    return this.#at < this.#end ? this.#lines[this.#at] : undefined;
  }

  #next(): string | undefined {
    return this.#lines[this.#at++];
  }

  /** An error about the line that was read last. */
  #wrong(what: string): Error {
    return unreadablePatch(this.#at, what);
  }

  #wrongNext(expected: string): Error {
    const next = this.#peek();
    const got = next === undefined ? 'the end of the patch' : show(next);
    return unreadablePatch(this.#at + 1, `${expected}, got ${got}.`);
  }
}

function deleteStep(path: string, line: number): PatchStep {
  return {
    ...{ line, path, effect: 'delete', added: [] },
    *run(draft) {
      if (!draft.exists) throw unfitPatch({ path, line }, 'there is no such file to delete.');
      yield;
      draft.remove();
    },
  };
}

function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
