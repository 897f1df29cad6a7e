import { structuredPatch } from 'diff';
import type { CommandPart, Picture, PicturePart } from '../contract/picture.js';
import { describeEffect } from '../effects/traits.js';
import { inOneLine, toPieces, toVisible, toWords } from './visible-text.js';

export interface Palette {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

export interface DrawOptions {
  readonly columns: number;
  readonly palette: Palette;
  /** Nothing is folded. Commands never are. */
  readonly whole?: boolean;
}

/** Lines of a part that are shown before the rest of it is folded. */
const FOLDED_LINES = 80;
const CONTEXT_LINES = 3;
const INDENT = '   ';
const LEAST_COLUMNS = 40;
const RISK_COLUMNS = ' ⚠ HIGH RISK'.length;
/** Before the rest of a line that did not fit. */
const GOES_ON = '┆ ';

/** Which call a picture is of. */
export interface PictureHead {
  readonly number: number;
  readonly toolName: string;
  readonly callId: string;
}

/** A picture as lines that no terminal has to wrap, and that nothing in the picture can forge: each part is indented. */
export function drawPicture(picture: Picture, head: PictureHead, options: DrawOptions): readonly string[] {
  const columns = Math.max(options.columns, LEAST_COLUMNS) - INDENT.length - 1;
  const pen = new Pen({ ...options, columns });
  const { palette } = options;
  const risk = picture.risk === 'high' ? palette.bold(palette.red('⚠ HIGH RISK')) : `${picture.risk} risk`;
  pen.head(head, risk);
  pen.line(picture.title, palette.bold, true);
  for (const part of picture.parts) drawPart(part, pen);
  pen.line(`asked because: ${picture.reason}`, palette.dim, true);
  return pen.lines;
}

/** A call of which no picture is needed: what is said of it, and lines below. */
export function drawCall(
  head: PictureHead,
  said: string,
  lines: readonly string[],
  options: DrawOptions,
): readonly string[] {
  const pen = new Pen({ ...options, columns: Math.max(options.columns, LEAST_COLUMNS) - INDENT.length - 1 });
  pen.head(head, said);
  for (const line of lines) pen.line(line);
  return pen.lines;
}

/** The parts of a picture alone, below what a list says of the call. */
export function drawParts(picture: Picture, options: DrawOptions): readonly string[] {
  const pen = new Pen({ ...options, columns: Math.max(options.columns, LEAST_COLUMNS) - INDENT.length - 1 });
  for (const part of picture.parts) drawPart(part, pen);
  return pen.lines;
}

/** Ids and names come from the model: what is more than a plain word stands in quotes. */
function nameOf({ toolName, callId }: PictureHead): string {
  return `${plainOrQuoted(toolName)} (${plainOrQuoted(callId)})`;
}

function plainOrQuoted(text: string): string {
  if (/^[A-Za-z0-9_-]{1,80}$/.test(text)) return text;
  const shown = toVisible(inOneLine(text.slice(0, 80)), { lookalikes: true });
  return `"${shown}${text.length > 80 ? '…' : ''}"`;
}

/** One line of text from elsewhere, in lines that no terminal has to wrap. The first stands at the front. */
export function drawTitle(text: string, { columns, palette }: DrawOptions): readonly string[] {
  const title = toVisible(inOneLine(text), { lookalikes: true, isShortened: true });
  const pieces = toWords(title, Math.max(columns, LEAST_COLUMNS) - INDENT.length - GOES_ON.length);
  return pieces.map((piece, at) => (at === 0 ? '' : `${INDENT}${GOES_ON}`) + palette.bold(piece));
}

interface TextKind {
  readonly lookalikes?: boolean;
  readonly isShortened?: boolean;
  readonly cut?: (line: string, columns: number) => readonly string[];
}

/** Where a picture is drawn. */
class Pen {
  readonly lines: string[] = [];
  readonly palette: Palette;
  readonly whole: boolean;
  readonly #columns: number;

  constructor({ columns, palette, whole = false }: DrawOptions) {
    this.#columns = columns;
    this.palette = palette;
    this.whole = whole;
  }

  /** A line that is safe as it is. */
  plain(line: string): void {
    this.lines.push(line);
  }

  /** @param said safe as it is */
  head(head: PictureHead, said: string): void {
    const [name = '', ...rest] = toPieces(`${head.number}. ${nameOf(head)}`, this.#columns - RISK_COLUMNS);
    this.plain(this.palette.bold(name));
    for (const piece of rest) this.plain(`${INDENT}${this.palette.bold(`${GOES_ON}${piece}`)}`);
    this.plain(`${this.lines.pop() ?? ''} ${said}`);
  }

  /** Text from elsewhere, in as many lines as it needs. */
  text(
    text: string,
    paint: (text: string) => string = (line) => line,
    gutter = '',
    { lookalikes = false, isShortened = false, cut = toPieces }: TextKind = {},
  ): void {
    for (const line of toVisible(text.replaceAll('\t', '    '), { lookalikes, isShortened }).split('\n')) {
      const pieces = cut(line, this.#columns - Math.max(gutter.length, GOES_ON.length) - 2);
      for (const [index, piece] of pieces.entries()) {
        // A line that goes on looks like none that begins.
        const start = index === 0 ? gutter : GOES_ON;
        this.lines.push(`${INDENT}${paint(`${start}${piece}`)}`);
      }
    }
  }

  /** Text from elsewhere that is one line: a line end in it is named, so that nothing after it looks like a line of ours. */
  line(text: string, paint?: (text: string) => string, isShortened = false): void {
    this.text(inOneLine(text), paint, '', { lookalikes: true, isShortened, cut: toWords });
  }

  /** The first of many lines; the rest where everything is wanted. */
  folded<T>(items: readonly T[], draw: (item: T) => void): void {
    const shown = this.whole || items.length <= FOLDED_LINES + 10 ? items : items.slice(0, FOLDED_LINES);
    for (const item of shown) draw(item);
    const left = items.length - shown.length;
    if (left > 0) this.text(`… ${countLines(left)} more: d shows all`, this.palette.yellow);
  }
}

function drawPart(part: PicturePart, pen: Pen): void {
  const { palette } = pen;
  switch (part.kind) {
    case 'diff':
      drawDiff(part, pen);
      return;
    case 'file': {
      const lines = part.text === '' ? [] : part.text.replace(/\n$/, '').split('\n');
      pen.line(`new file ${part.path} (${countLines(lines.length)})`, palette.bold);
      pen.folded(lines, (line) => pen.text(line, palette.green, '+ '));
      return;
    }
    case 'unshown':
      pen.line(
        `${part.path}: ${part.why} (${sizeOf(part.bytesBefore)} → ${sizeOf(part.bytesAfter)})`,
        palette.yellow,
      );
      return;
    case 'command':
      drawCommand(part, pen);
      return;
    case 'url':
      pen.line(`→ ${part.url}`, palette.bold);
      return;
    case 'arguments':
      pen.folded(JSON.stringify(part.json, null, 2).split('\n'), (line) =>
        pen.text(line, undefined, '', { lookalikes: true }),
      );
      return;
    case 'problem':
      pen.text(`it would fail: ${part.text}`, palette.yellow, '✗ ', { cut: toWords });
      return;
  }
}

export function countLines(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`;
}

function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? 'no file' : `${bytes} bytes`;
}

/** A difference is given up after that long: texts without a line in common take for ever. */
const DIFF_MS = 500;

function drawDiff({ path, from, before, after }: PicturePart & { readonly kind: 'diff' }, pen: Pen): void {
  const { palette } = pen;
  const name = from === undefined ? path : `${from} → ${path}`;
  if (after === undefined) {
    const lines = before.replace(/\n$/, '').split('\n');
    pen.line(`remove ${name} (${countLines(lines.length)})`, palette.red);
    pen.folded(lines, (line) => pen.text(line, palette.red, '- '));
    return;
  }
  const context = pen.whole ? Number.MAX_SAFE_INTEGER : CONTEXT_LINES;
  const patch = structuredPatch(path, path, before, after, '', '', { context, timeout: DIFF_MS });
  pen.line(name, palette.bold);
  if (patch === undefined) {
    pen.text('nearly everything changes; the new content:', palette.yellow);
    pen.folded(after.split('\n'), (line) => pen.text(line, palette.green, '+ '));
    return;
  }
  if (patch.hunks.length === 0) pen.text('the content stays as it is', palette.dim);
  const lines = patch.hunks.flatMap((hunk) => [`@${hunk.newStart}`, ...hunk.lines]);
  pen.folded(lines, (line) => drawDiffLine(line, pen));
}

function drawDiffLine(line: string, pen: Pen): void {
  const { palette } = pen;
  const text = line.slice(1);
  if (line.startsWith('@')) pen.text(`line ${text}`, palette.dim);
  else if (line.startsWith('+')) pen.text(text, palette.green, '+ ');
  else if (line.startsWith('-')) pen.text(text, palette.red, '- ');
  else if (line.startsWith('\\')) pen.text('(no line end at the end of the file)', palette.dim);
  else pen.text(text, undefined, '  ');
}

function drawCommand({ text, cwd, marks, commands }: CommandPart, pen: Pen): void {
  const { palette } = pen;
  pen.text(text, palette.bold, '│ ', { lookalikes: true });
  if (cwd !== undefined) pen.line(`in ${cwd}`, palette.dim);
  for (const { start, end, reason } of marks) {
    const marked = text.slice(start, end).replace(/\s+/g, ' ');
    const shown = start === 0 && end === text.length ? '' : `${marked.slice(0, 80)}: `;
    pen.line(`⚠ ${shown}${reason}`, palette.red);
  }
  const touches = new Set(commands.flatMap(({ touches: own }) => own.map(describeEffect)));
  if (touches.size > 0) pen.line(`touches: ${[...touches].join(', ')}`, palette.dim);
}
