import { structuredPatch } from 'diff';
import type { ChangesPart, CommandPart, Picture, PicturePart } from '../contract/picture.js';
import { describeEffect } from '../effects/traits.js';
import { countChanges, describeChange, groupChanges } from './describe-changes.js';
import { describeContainment } from './describe-containment.js';
import { LEAST_COLUMNS } from './own-words.js';
import { inOneLine, toPieces, toVisible, toWords, widthOf } from './visible-text.js';

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
  /** Folds nothing. Commands are never folded. */
  readonly whole?: boolean;
  /** How the person sees folded lines. Default: the key `d`. */
  readonly remedy?: string;
}

/** How many lines of a part are shown before the rest is folded. */
const FOLDED_LINES = 80;
const CONTEXT_LINES = 3;
const INDENT = '   ';
const RISK_COLUMNS = ' ⚠ HIGH RISK'.length;
/** Marks the continuation of a line that did not fit. */
const GOES_ON = '┆ ';

/** The call that a picture shows. */
export interface PictureHead {
  readonly number: number;
  readonly toolName: string;
  readonly callId: string;
}

/**
 * Draws a picture in lines that no terminal has to wrap. Its content cannot forge our lines, because each
 * part is indented.
 */
export function drawPicture(picture: Picture, head: PictureHead, options: DrawOptions): readonly string[] {
  const columns = Math.max(options.columns, LEAST_COLUMNS) - INDENT.length - 1;
  const pen = new Pen({ ...options, columns });
  const { palette } = options;
  const risk = picture.risk === 'high' ? palette.bold(palette.red('⚠ HIGH RISK')) : `${picture.risk} risk`;
  pen.head(head, risk);
  for (const words of describeContainment(picture)) pen.append(`· ${words}`);
  pen.line(picture.title, palette.bold, true);
  drawAll(picture, pen);
  pen.line(`asked because: ${picture.reason}`, palette.dim, true);
  return pen.lines;
}

/** Draws a call without a picture: its title, and lines below. */
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

/** Draws only the parts of a picture, below a list entry. */
export function drawParts(picture: Picture, options: DrawOptions): readonly string[] {
  const pen = new Pen({ ...options, columns: Math.max(options.columns, LEAST_COLUMNS) - INDENT.length - 1 });
  drawAll(picture, pen);
  return pen.lines;
}

/** How many lines of changed texts are drawn; their paths are always drawn. */
const MOST_TEXT_LINES = 160;

/** The summary of changes comes first, before any long part. */
function drawAll({ parts }: Picture, pen: Pen): void {
  for (const part of parts) if (part.kind === 'changes') pen.line(countChanges(part), pen.palette.bold);
  const at = parts.findIndex(({ kind }) => kind === 'changes');
  const first = at === -1 ? parts : parts.slice(0, at + 1);
  for (const part of first) drawPart(part, pen);
  // The list already says that a new file is empty.
  const texts = parts.slice(first.length).filter((part) => part.kind !== 'file' || part.text !== '');
  const most = pen.lines.length + MOST_TEXT_LINES;
  for (const [index, part] of texts.entries()) {
    if (pen.lines.length > most && !pen.whole) {
      pen.text(`… the texts of ${texts.length - index} more: ${pen.remedy}`, pen.palette.yellow);
      return;
    }
    drawPart(part, pen);
  }
}

/** Ids and names come from the model: anything but a plain word is quoted. */
function nameOf({ toolName, callId }: PictureHead): string {
  return `${plainOrQuoted(toolName)} (${plainOrQuoted(callId)})`;
}

function plainOrQuoted(text: string): string {
  if (/^[A-Za-z0-9_-]{1,80}$/.test(text)) return text;
  const shown = toVisible(inOneLine(text.slice(0, 80)), { lookalikes: true });
  return `"${shown}${text.length > 80 ? '…' : ''}"`;
}

/**
 * Draws one line of untrusted text in lines that no terminal has to wrap. The first starts at the left edge.
 */
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

/** Collects the lines of a picture. */
class Pen {
  readonly lines: string[] = [];
  readonly palette: Palette;
  readonly whole: boolean;
  readonly remedy: string;
  readonly #columns: number;

  constructor({ columns, palette, whole = false, remedy = 'd shows all' }: DrawOptions) {
    this.#columns = columns;
    this.palette = palette;
    this.whole = whole;
    this.remedy = remedy;
  }

  /** Adds a line that is safe. */
  plain(line: string): void {
    this.lines.push(line);
  }

  /** @param said a safe text */
  head(head: PictureHead, said: string): void {
    const [name = '', ...rest] = toPieces(`${head.number}. ${nameOf(head)}`, this.#columns - RISK_COLUMNS);
    this.plain(this.palette.bold(name));
    for (const piece of rest) this.plain(`${INDENT}${this.palette.bold(`${GOES_ON}${piece}`)}`);
    this.plain(`${this.lines.pop() ?? ''} ${said}`);
  }

  /** Adds untrusted text in as many lines as necessary. */
  text(
    text: string,
    paint: (text: string) => string = (line) => line,
    gutter = '',
    { lookalikes = false, isShortened = false, cut = toPieces }: TextKind = {},
  ): void {
    for (const line of toVisible(text.replaceAll('\t', '    '), { lookalikes, isShortened }).split('\n')) {
      const pieces = cut(line, this.#columns - Math.max(gutter.length, GOES_ON.length) - 2);
      for (const [index, piece] of pieces.entries()) {
        // A continued line looks different from a new one.
        const start = index === 0 ? gutter : GOES_ON;
        this.lines.push(`${INDENT}${paint(`${start}${piece}`)}`);
      }
    }
  }

  /**
   * Adds untrusted text in one line: a line end in it is spelled out, so nothing after it looks like a line
   * of ours.
   */
  line(text: string, paint?: (text: string) => string, isShortened = false): void {
    this.text(inOneLine(text), paint, '', { lookalikes: true, isShortened, cut: toWords });
  }

  /** Appends our own words to the last line, or below it if they do not fit. */
  append(said: string): void {
    const last = this.lines.at(-1) ?? '';
    const width = widthOf(last.replaceAll(/\u001b\[[0-9]+m/g, ''));
    if (width + 1 + said.length > this.#columns) this.line(said);
    else this.lines.splice(-1, 1, `${last} ${said}`);
  }

  /** Draws the first of many lines, or all of them with `whole`. */
  folded<T>(items: readonly T[], draw: (item: T) => void): void {
    const shown = this.whole || items.length <= FOLDED_LINES + 10 ? items : items.slice(0, FOLDED_LINES);
    for (const item of shown) draw(item);
    const left = items.length - shown.length;
    if (left > 0) this.more(left);
  }

  more(lines: number, of = ''): void {
    this.text(`… ${countLines(lines)} more${of}: ${this.remedy}`, this.palette.yellow);
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
    case 'changes':
      drawChanges(part, pen);
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

/** Every path, never folded: everything that is committed is shown. */
function drawChanges(part: ChangesPart, pen: Pen): void {
  const { red, yellow, green, bold } = pen.palette;
  for (const { sign, word, entries } of groupChanges(part)) {
    pen.line(`${word} (${entries.length}):`, bold);
    const paint = { '!': red, '-': red, '~': yellow, '+': green }[sign];
    for (const entry of entries) pen.line(`${sign} ${describeChange(entry)}`, paint);
  }
  if (part.notKept.length > 0) pen.line(`not kept (${part.notKept.length}):`, bold);
  for (const { path, reason } of part.notKept) pen.line(`✗ ${path}: ${reason}`, yellow);
}

export function countLines(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`;
}

function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? 'no file' : `${bytes} bytes`;
}

/** Time limit for a diff: texts without a common line take very long. */
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
  const hunks = patch?.hunks ?? [oneHunk(before, after, context)];
  const changed = hunks.flatMap((hunk) => hunk.lines);
  const [added, removed] = ['+', '-'].map((sign) => changed.filter((line) => line.startsWith(sign)).length);
  pen.line(name, palette.bold);
  pen.append(`(+${added} −${removed})`);
  if (hunks.length === 0) pen.text('the content stays the same', palette.dim);
  const lines = hunks.flatMap((hunk) => [`@${hunk.newStart}`, ...hunk.lines]);
  pen.folded(pen.whole ? lines : foldSides(lines), (line) => drawDiffLine(line, pen));
}

/**
 * Everything from the first to the last differing line as one change, for texts that have too little in common for a
 * diff.
 */
function oneHunk(
  before: string,
  after: string,
  context: number,
): { newStart: number; lines: readonly string[] } {
  const [old, now] = [before, after].map((text) => text.replace(/\n$/, '').split('\n')) as [
    string[],
    string[],
  ];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start++;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  const from = Math.max(0, start - context);
  const lines = [
    ...now.slice(from, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...now.slice(now.length - end, now.length - end + Math.min(end, context)).map((line) => ` ${line}`),
  ];
  return { newStart: from + 1, lines };
}

/** How many lines of one side are shown before the other side of a long change. */
const SIDE_LINES = FOLDED_LINES / 2;

/** A long change, from the start of both sides: a line `…` replaces the rest of each side. */
function foldSides(lines: readonly string[]): readonly string[] {
  if (lines.length <= FOLDED_LINES + 10) return lines;
  const folded: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const sign = lines[at]?.charAt(0) ?? '';
    let end = at + 1;
    while (end < lines.length && lines[end]?.charAt(0) === sign) end++;
    const isLong = (sign === '+' || sign === '-') && end - at > SIDE_LINES + 1;
    folded.push(...lines.slice(at, isLong ? at + SIDE_LINES : end));
    if (isLong) folded.push(`…${sign}${end - at - SIDE_LINES}`);
    at = end;
  }
  return folded;
}

function drawDiffLine(line: string, pen: Pen): void {
  const { palette } = pen;
  const text = line.slice(1);
  if (line.startsWith('@')) pen.text(`line ${text}`, palette.dim);
  else if (line.startsWith('…'))
    pen.more(Number(text.slice(1)), text.startsWith('+') ? ' added' : ' removed');
  else if (line.startsWith('+')) pen.text(text, palette.green, '+ ');
  else if (line.startsWith('-')) pen.text(text, palette.red, '- ');
  else if (line.startsWith('\\')) pen.text('(no line end at the end of the file)', palette.dim);
  else pen.text(text, undefined, '  ');
}

function drawCommand({ text, cwd, marks, touches, commands }: CommandPart, pen: Pen): void {
  const { palette } = pen;
  pen.text(text, palette.bold, '│ ', { lookalikes: true });
  if (cwd !== undefined) pen.line(`in ${cwd}`, palette.dim);
  for (const { start, end, reason } of marks) {
    const marked = text.slice(start, end).replace(/\s+/g, ' ');
    const shown = start === 0 && end === text.length ? '' : `${marked.slice(0, 80)}: `;
    pen.line(`⚠ ${shown}${reason}`, palette.red);
  }
  const told = new Set(touches.map(describeEffect));
  if (told.size > 0) pen.line(`touches: ${[...told].join(', ')}`, palette.dim);
  for (const untold of untoldIn(commands)) pen.line(`may touch more: ${untold}`, palette.dim);
}

/** Commands that may touch more than their words show, without duplicates; for `sudo git gc` only `git gc`. */
export function untoldIn(commands: CommandPart['commands']): readonly string[] {
  const texts = new Set(commands.flatMap(({ words, isUntold }) => (isUntold ? [words.join(' ')] : [])));
  const all = [...texts].map((text) => text.replace(/\s+/g, ' '));
  const own = all.filter((text) => !all.some((other) => other !== text && text.endsWith(` ${other}`)));
  return own.map((text) => (text.length > MOST_COMMAND ? `${text.slice(0, MOST_COMMAND)}…` : text));
}

const MOST_COMMAND = 80;
