import { unreadablePatch } from '../patch-error.js';

/**
 * Parses LP1 text (D066). Pure: reads no file.
 * @throws ToolError `patch_failed` with the line in the message and in `details.patch_line`
 */
export function parsePatch(text: string): Patch {
  return new Parser(text).patch();
}

const BLANK_OR_COMMENT = /^[ \t]*(?:#|$)/;
const END_OF_BLOCK = /^\.[ \t]*$/;

class Parser {
  readonly #lines: readonly string[];
  /** Index of the next line. */
  #at = 0;

  constructor(text: string) {
    if (typeof text !== 'string')
      throw unreadablePatch(1, `the patch is a text, not a value of type ${typeof text}.`);
    if (/\p{Surrogate}/u.test(text)) throw unreadablePatch(1, 'it is not well-formed Unicode.');
    this.#lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    const bare = this.#lines.findIndex((line) => line.includes('\r'));
    if (bare !== -1) throw unreadablePatch(bare + 1, 'Bare CR: lines end in LF or CRLF.');
  }

  patch(): Patch {
    this.#header();
    const files: FileSection[] = [];
    for (;;) {
      const line = this.#statement();
      if (line === undefined) throw this.#wrong('Missing END footer: the last line of a patch is END.');
      if (isWord(line, 'END')) break;
      files.push(this.#section(line));
    }
    const after = this.#statement();
    if (after !== undefined) throw this.#wrong(`text after END: ${show(after)}. END is the last line.`);
    return { files };
  }

  #header(): void {
    const line = this.#statement();
    if (line === undefined) throw unreadablePatch(1, 'Missing LP1 header: the first line of a patch is LP1.');
    if (!isWord(line, 'LP1')) {
      throw this.#wrong(`Invalid LP1 header: the first line is LP1, not ${show(line)}.`);
    }
  }

  #section(first: string): FileSection {
    const { letter, rest } = readCommand(first);
    if (letter !== 'F') {
      throw this.#wrong(`Expected a file section (F <path>) or END, got ${show(first)}.`);
    }
    const line = this.#at;
    const path = readPath(rest, line);
    const operations: Operation[] = [];
    for (;;) {
      const next = this.#statement();
      if (next === undefined) throw this.#wrong('Missing END footer: the last line of a patch is END.');
      if (isWord(next, 'END') || readCommand(next).letter === 'F') {
        this.#at--;
        return { path, line, operations };
      }
      operations.push(this.#operation(next));
    }
  }

  #operation(text: string): Operation {
    const line = this.#at;
    const { letter, rest } = readCommand(text);
    switch (letter) {
      case 'R':
        return { kind: 'replace', ...this.#found(rest, line), lines: this.#block() };
      case 'I':
        return { kind: 'insert_after', ...this.#found(rest, line), lines: this.#block() };
      case 'P':
        return { kind: 'insert_before', ...this.#found(rest, line), lines: this.#block() };
      case 'E':
        return { kind: 'erase', ...this.#found(rest, line) };
      case 'T':
      case 'B':
        if (rest !== '') throw this.#wrong(`${letter} takes nothing after it, got ${show(rest)}.`);
        return letter === 'T'
          ? { kind: 'append', line, lines: this.#block() }
          : { kind: 'prepend', line, lines: this.#block() };
      case 'N':
        if (rest !== '+' && rest !== '-') throw this.#wrong(`Invalid N flag ${show(rest)}; expected + or -.`);
        return { kind: 'final_newline', line, present: rest === '+' };
      default:
        throw this.#wrong(
          `Unknown LP1 operation ${show(text)}. Operations are R, I, P, E, T, B, N, each on a line of its own, ` +
            'then their blocks, each ended by a line that is a single dot.',
        );
    }
  }

  #found(
    rest: string,
    line: number,
  ): Pick<Extract<Operation, { kind: 'erase' }>, 'line' | 'find' | 'occurrence'> {
    const occurrence = rest === '' ? undefined : this.#occurrence(rest);
    const find = this.#block();
    if (find.length === 0) {
      throw unreadablePatch(line, 'its find block is empty. Give the lines to be found; T and B need none.');
    }
    return occurrence === undefined ? { line, find } : { line, find, occurrence };
  }

  #occurrence(text: string): number {
    if (/^0+$/.test(text)) throw this.#wrong('Occurrence must be >= 1: they are counted from 1.');
    const occurrence = Number(text);
    if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(occurrence)) return occurrence;
    throw this.#wrong(`Invalid occurrence ${show(text)}: give a whole number from 1.`);
  }

  #block(): readonly string[] {
    const from = this.#at;
    const block: string[] = [];
    for (;;) {
      const line = this.#next();
      if (line === undefined) {
        throw unreadablePatch(from, 'Unterminated LP1 block: it has no end, a line that is a single dot.');
      }
      if (!line.startsWith('.')) block.push(line);
      else if (END_OF_BLOCK.test(line)) return block;
      else if (line.startsWith('..')) block.push(line.slice(1));
      else throw this.#wrong(`Dot-stuffed line must start with '..': write ${show(`.${line}`)}.`);
    }
  }

  /** The next line that is neither blank nor a comment. */
  #statement(): string | undefined {
    for (;;) {
      const line = this.#next();
      if (line === undefined || !BLANK_OR_COMMENT.test(line)) return line;
    }
  }

  #next(): string | undefined {
    return this.#lines[this.#at++];
  }

  /** An error about the line that was read last. */
  #wrong(what: string): Error {
    return unreadablePatch(Math.min(this.#at, this.#lines.length), what);
  }
}

function isWord(line: string, word: string): boolean {
  return trimBlanks(line) === word;
}

/** A single letter and the rest of the line. */
function readCommand(line: string): { readonly letter: string | undefined; readonly rest: string } {
  const text = trimBlanks(line);
  const isAlone = text.length === 1 || text[1] === ' ' || text[1] === '\t';
  return isAlone ? { letter: text[0], rest: trimBlanks(text.slice(1)) } : { letter: undefined, rest: '' };
}

/**
 * Spaces and tabs only, and without a pattern: one that ends in `[ \t]*$` takes quadratic time for a hostile
 * line.
 */
function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && (text[from] === ' ' || text[from] === '\t')) from++;
  while (to > from && (text[to - 1] === ' ' || text[to - 1] === '\t')) to--;
  return text.slice(from, to);
}

function show(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

/** A parsed LP1 patch. Lines are without line ends; line numbers count from 1, in the patch. */
export interface Patch {
  readonly files: readonly FileSection[];
}

export interface FileSection {
  readonly path: string;
  readonly line: number;
  readonly operations: readonly Operation[];
}

export type Operation =
  | (Found & {
      readonly kind: 'replace' | 'insert_after' | 'insert_before';
      readonly lines: readonly string[];
    })
  | (Found & { readonly kind: 'erase' })
  | { readonly kind: 'append'; readonly line: number; readonly lines: readonly string[] }
  | { readonly kind: 'prepend'; readonly line: number; readonly lines: readonly string[] }
  | { readonly kind: 'final_newline'; readonly line: number; readonly present: boolean };

/** An operation whose place is found by its lines. */
export interface Found {
  readonly line: number;
  readonly find: readonly string[];
  /** The number of the match, from 1; left out: there must be only one. */
  readonly occurrence?: number;
}

/** The letter of each operation in a patch. */
export const LETTERS = {
  replace: 'R',
  insert_after: 'I',
  insert_before: 'P',
  erase: 'E',
  append: 'T',
  prepend: 'B',
  final_newline: 'N',
} as const satisfies Record<Operation['kind'], string>;

/**
 * The path of a file section: bare, or in quotes with the escapes `\"` and `\\`.
 * @throws ToolError `patch_failed`
 */
function readPath(text: string, line: number): string {
  const path = text.startsWith('"') ? readQuoted(text, line) : readBare(text, line);
  if (path.trim() === '') throw unreadablePatch(line, 'Missing file path after F.');
  return path;
}

function readBare(text: string, line: number): string {
  if (/[\s"]/.test(text)) {
    throw unreadablePatch(
      line,
      `a path with spaces or quotes is written in quotes: F ${JSON.stringify(text)}.`,
    );
  }
  return text;
}

function readQuoted(text: string, line: number): string {
  let path = '';
  for (let at = 1; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      if (at < text.length - 1)
        throw unreadablePatch(line, 'there is text after the closing quote of the path.');
      return path;
    }
    if (char !== '\\') {
      path += char;
      continue;
    }
    const escaped = text[++at];
    if (escaped !== '"' && escaped !== '\\') {
      throw unreadablePatch(line, 'Invalid escape in quoted path: only \\" and \\\\ are known.');
    }
    path += escaped;
  }
  throw unreadablePatch(line, 'Unterminated quoted path.');
}
