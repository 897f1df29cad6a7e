import { sanitize } from '../output/sanitize.js';
import type { Palette } from './draw-picture.js';
import { drawTable } from './draw-table.js';
import { toPieces, toWords } from './visible-text.js';

export interface MarkdownOptions {
  /** The current width: the person may resize the window while the model responds. */
  readonly columns: () => number;
  readonly palette: Palette;
}

/** Turns a model's Markdown into terminal lines as it arrives. */
export interface MarkdownStream {
  /** @returns the complete lines */
  push(text: string): string;
  /** @returns the rest */
  end(): string;
}

/** The start of a list item, and the indentation of its continuation. */
const BULLET = /^(\s*)(?:[-*+])\s+(?:\[([ xX])\]\s+)?/;
const NUMBER = /^(\s*)(\d{1,9}[.)])\s+/;
const HEADING = /^#{1,6}\s+(.*?)\s*#*$/;
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const QUOTE = /^\s*>\s?/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const TABLE_HEAD_END = /^\s*\|[\s:|-]+\|\s*$/;

const LEAST_COLUMNS = 20;

/**
 * Renders Markdown line by line: headings, lists, tasks, quotes, code, tables, and inline emphasis. Other
 * text stays unchanged; only the marks are removed.
 */
export function createMarkdown(options: MarkdownOptions): MarkdownStream {
  return new Markdown(options);
}

class Markdown implements MarkdownStream {
  readonly #options: MarkdownOptions;
  /** The incomplete line. */
  #open = '';
  /** The end of the open code block. */
  #fence: string | undefined;
  #table: string[] = [];

  constructor(options: MarkdownOptions) {
    this.#options = options;
  }

  push(text: string): string {
    const [first = '', ...rest] = text.split('\n');
    const lines = [`${this.#open}${first}`, ...rest];
    this.#open = lines.pop() ?? '';
    return lines.map((line) => this.#line(line)).join('');
  }

  end(): string {
    const last = this.#open === '' ? '' : this.#line(this.#open);
    this.#open = '';
    this.#fence = undefined;
    return `${last}${this.#endTable()}`;
  }

  #line(raw: string): string {
    const line = sanitize(raw, 'inline').trimEnd();
    if (this.#fence !== undefined) return this.#code(sanitize(raw.replaceAll('\t', '    '), 'inline'));
    if (TABLE_ROW.test(line)) {
      this.#table.push(line);
      return '';
    }
    return `${this.#endTable()}${this.#block(line)}`;
  }

  #block(line: string): string {
    const { palette } = this.#options;
    const [, mark = '', language = ''] = FENCE.exec(line) ?? [];
    if (mark !== '') {
      this.#fence = mark;
      return language.trim() === '' ? '' : `${palette.dim(`  ${language.trim()}`)}\n`;
    }
    if (RULE.test(line)) return `${palette.dim('─'.repeat(Math.min(this.#columns, 40)))}\n`;
    const [, heading] = HEADING.exec(line) ?? [];
    if (heading !== undefined) return this.#fold('', heading, palette.bold);
    const [bullet, indent = '', task] = BULLET.exec(line) ?? [];
    if (bullet !== undefined) {
      const sign = task === undefined ? '•' : task === ' ' ? '☐' : '☑';
      return this.#fold(`${indent}${sign} `, line.slice(bullet.length));
    }
    const [number, before = '', count] = NUMBER.exec(line) ?? [];
    if (number !== undefined) return this.#fold(`${before}${count} `, line.slice(number.length));
    if (QUOTE.test(line)) return this.#fold('│ ', line.replace(QUOTE, ''), palette.dim, '│ ');
    return this.#fold('', line);
  }

  #code(line: string): string {
    const [, mark, rest = ''] = FENCE.exec(line) ?? [];
    if (mark !== undefined && rest.trim() === '' && mark.startsWith(this.#fence ?? '')) {
      this.#fence = undefined;
      return '';
    }
    // Code is copied from the screen, so only the terminal wraps a long line.
    return `  ${this.#options.palette.dim('│')} ${line}\n`;
  }

  #endTable(): string {
    const lines = this.#table;
    this.#table = [];
    if (lines.length === 0) return '';
    const rows = lines.filter((line) => !TABLE_HEAD_END.test(line)).map(cellsOf);
    const hasHead = lines[1] !== undefined && TABLE_HEAD_END.test(lines[1]);
    const [head, ...body] = rows;
    const { palette } = this.#options;
    const drawn = (row: readonly string[]) => row.map((cell) => drawInline(cell, palette));
    return drawTable({
      ...(hasHead && head !== undefined ? { head: head.map((cell) => cell.replaceAll(/[*`]/g, '')) } : {}),
      rows: (hasHead ? body : rows).map(drawn),
      columns: this.#columns,
      palette,
    });
  }

  get #columns(): number {
    return Math.max(this.#options.columns() - 1, LEAST_COLUMNS);
  }

  /** A paragraph, heading or item in lines that fit, with hanging indentation. */
  #fold(
    front: string,
    text: string,
    paint: (text: string) => string = (same) => same,
    hang = ' '.repeat(front.length),
  ): string {
    const { palette } = this.#options;
    const room = this.#columns - front.length;
    const marked = drawInline(text, palette);
    return foldPainted(marked, room)
      .map((piece, at) => `${at === 0 ? front : hang}${piece === '' ? '' : paint(piece)}`.trimEnd())
      .map((piece) => `${piece}\n`)
      .join('');
  }
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));
}

const CODE = /(`+)(.+?)\1/g;
const STRONG = /(\*\*|__)(?=\S)(.+?\S|\S)\1/g;
const EMPHASIS = /(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])/g;
const LINK = /\[([^\]]+)\]\(([^()\s]+)\)/g;

/** Emphasis, code and links inside a line. Marks inside code are text. */
function drawInline(text: string, { bold, yellow }: Palette): string {
  const codes: string[] = [];
  const withoutCode = text.replaceAll(CODE, (_, __, code: string) => {
    codes.push(code.trim());
    return `${HOLE}${codes.length - 1}${HOLE}`;
  });
  return withoutCode
    .replaceAll(LINK, (_, words: string, target: string) =>
      words === target ? target : `${words} (${target})`,
    )
    .replaceAll(STRONG, (_, __, words: string) => bold(words))
    .replaceAll(EMPHASIS, (_, words: string) => bold(words))
    .replaceAll(HOLES, (_, at: string) => yellow(codes[Number(at)] ?? ''));
}

/** Cannot occur in a model's text, which is neutralized. */
const HOLE = '\u0001';
const HOLES = new RegExp(`${HOLE}(\\d+)${HOLE}`, 'g');

const COLOUR = /\u001b\[[0-9]+m/g;

/** Wraps between words. A colour continues on the next line, because the terminal keeps it. */
function foldPainted(text: string, columns: number): readonly string[] {
  const plain = text.replaceAll(COLOUR, '');
  const pieces = toWords(plain, columns).flatMap((piece) => toPieces(piece.trimEnd(), columns));
  if (pieces.length < 2) return [text];
  const colours = [...text.matchAll(COLOUR)];
  if (colours.length === 0) return pieces.map((piece) => piece.trimStart());
  return paintAgain(text, pieces);
}

/** Puts the colours of a text back into its pieces. */
function paintAgain(text: string, pieces: readonly string[]): readonly string[] {
  const painted: string[] = [];
  let at = 0;
  for (const piece of pieces) {
    let line = '';
    let left = piece.trimStart();
    // Blanks at a line break are in the text but in no piece.
    while (left !== '' && at < text.length) {
      const [colour] = /^\u001b\[[0-9]+m/.exec(text.slice(at, at + 8)) ?? [];
      if (colour !== undefined) {
        line += colour;
        at += colour.length;
      } else if (text.charAt(at) === left.charAt(0)) {
        line += left.charAt(0);
        left = left.slice(1);
        at++;
      } else at++;
    }
    painted.push(line);
  }
  const rest = [...text.slice(at).matchAll(COLOUR)].map(([colour]) => colour).join('');
  return [...painted.slice(0, -1), `${painted.at(-1) ?? ''}${rest}`];
}
