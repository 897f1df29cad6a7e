import { foldText, nameDifferences } from './name-differences.js';
import { nearestLines } from './nearest-lines.js';

/** How many characters of a file are searched for similar text. */
const MAX_TEXT = 16 * 1024 * 1024;
/** Replaces bytes that are not text. */
const UNDECODED = '\ufffd';
/** For longer texts only the beginnings are compared. */
const MAX_COMPARED = 64 * 1024;

/**
 * Explains why a text was not found: it differs only in white space, line endings or lookalike characters, or
 * else the most similar part, with line numbers and a small diff. This helps a person or model to correct the
 * request; nothing is changed because of it. Linear in the length of the file.
 */
export function explainMissing(text: string, sought: string, { wholeLines = false } = {}): string {
  if (text.length > MAX_TEXT) return 'The file is too large to search it for similar text.';
  const undecoded = sought.includes(UNDECODED) ? text.indexOf(sought) : -1;
  if (undecoded !== -1) {
    return `The ${UNDECODED} at line ${countLines(text, undecoded) + 1} stands for bytes that are not UTF-8: leave them out of the searched text.`;
  }
  return (
    explainFolded(text, sought, wholeLines) ?? explainEscaped(text, sought) ?? explainNearest(text, sought)
  );
}

function explainFolded(text: string, sought: string, wholeLines: boolean): string | undefined {
  const wanted = foldText(sought).text;
  if (wanted === '') return undefined;
  const folded = foldText(text);
  const at = folded.text.indexOf(wanted);
  if (at === -1) return explainComposed(text, sought);
  const more = folded.text.includes(wanted, at + 1) ? ', and at other places' : '';
  const first = folded.positions[at] ?? 0;
  const last = folded.positions[at + wanted.length - 1] ?? first;
  const region = text.slice(
    ...(wholeLines ? widenToLines(text, first, last + 1) : widen(text, first, last + 1, sought)),
  );
  const lines = spanWords(countLines(text, first), countLines(text, last));
  const what = nameDifferences(region.slice(0, MAX_COMPARED), sought.slice(0, MAX_COMPARED));
  const diff = diffLines(sought.split('\n').map(visible), region.split('\n').map(visible));
  return `It stands at ${lines}${more}, but differs in ${what}. Looked for (-), in the file (+):\n${diff}`;
}

/** An accent may be a separate character. */
function explainComposed(text: string, sought: string): string | undefined {
  if (!/[^\x00-\x7f]/.test(sought)) return undefined;
  const composed = text.normalize('NFC');
  const at = composed.indexOf(sought.normalize('NFC'));
  if (at === -1) return undefined;
  return `It stands at line ${countLines(composed, at) + 1}, but its accents are written as other Unicode characters (NFC or NFD).`;
}

/** `\n` and `\t` written as two characters each. */
function explainEscaped(text: string, sought: string): string | undefined {
  if (!sought.includes('\\')) return undefined;
  const meant = sought.replace(/\\([ntr"'\\])/g, (_, char: string) => MEANINGS[char] ?? char);
  const at = meant === sought ? -1 : text.indexOf(meant);
  if (at === -1) return undefined;
  return (
    `It stands at line ${countLines(text, at) + 1} once its backslashes are taken for escapes: ` +
    'send line breaks, tabs and quotes as themselves.'
  );
}

const MEANINGS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function explainNearest(text: string, sought: string): string {
  const lines = sought.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const span = nearestLines(text, lines);
  if (span === undefined) return 'Nothing in the file is similar.';
  const found = sliceLines(text, span.start, span.end).map((line) => line.replace(/\r$/, ''));
  const where = spanWords(span.start, span.start + found.length - 1);
  return `The nearest is at ${where}. Looked for (-), in the file (+):\n${diffLines(lines, found)}`;
}

/** Extends a range by surrounding white space, as far as the searched text has some. */
function widen(text: string, from: number, to: number, sought: string): [from: number, to: number] {
  const lead = sought.length - sought.trimStart().length;
  const tail = sought.length - sought.trimEnd().length;
  let [start, end] = [from, to];
  let breaks = sought.slice(0, lead).split('\n').length - 1;
  while (lead > 0 && start > 0 && isBlank(text[start - 1])) {
    if (text[start - 1] === '\n' && breaks-- === 0) break;
    start--;
  }
  breaks = sought.slice(sought.length - tail).split('\n').length - 1;
  while (tail > 0 && end < text.length && isBlank(text[end])) {
    if (text[end] === '\n' && breaks-- === 0) break;
    end++;
  }
  return [start, end];
}

function widenToLines(text: string, from: number, to: number): [from: number, to: number] {
  let [start, end] = [from, to];
  while (isBlank(text[start - 1]) && text[start - 1] !== '\n') start--;
  while (isBlank(text[end]) && text[end] !== '\n') end++;
  return [start, end];
}

function isBlank(char: string | undefined): boolean {
  return char !== undefined && char.trim() === '';
}

function countLines(text: string, before: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < before; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function sliceLines(text: string, from: number, to: number): string[] {
  let at = 0;
  for (let index = 0; index < from; index++) {
    const end = text.indexOf('\n', at);
    if (end === -1) return [];
    at = end + 1;
  }
  const lines: string[] = [];
  for (let index = from; index < to && at <= text.length; index++) {
    const end = text.indexOf('\n', at);
    const stop = end === -1 ? text.length : end;
    if (end !== -1 || stop > at) lines.push(text.slice(at, stop));
    at = stop + 1;
  }
  return lines;
}

/** For people; the input counts from 0. */
function spanWords(first: number, last: number): string {
  return last <= first ? `line ${first + 1}` : `lines ${first + 1}-${last + 1}`;
}

/** A quoted line with invisible and ambiguous characters escaped. */
function visible(line: string): string {
  const escaped = JSON.stringify(line.slice(0, 1000));
  return escaped.replace(
    /[\u00a0\u00ad\u2000-\u206f\u2212\u3000\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const MAX_LINES = 40;
const MAX_WIDTH = 160;
const CONTEXT = 2;

/**
 * The searched text (`-`) next to the file's text (`+`), with common lines around a difference. Short: long
 * lines and texts are cut.
 */
export function diffLines(sought: readonly string[], found: readonly string[]): string {
  const marked = align(sought.slice(0, MAX_LINES), found.slice(0, MAX_LINES));
  const isNear = (at: number): boolean =>
    marked.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' ');
  const shown: string[] = [];
  for (const [at, { mark, line }] of marked.entries()) {
    if (isNear(at)) shown.push(mark + cut(line));
    else if (shown.at(-1) !== '...') shown.push('...');
  }
  if (Math.max(sought.length, found.length) > MAX_LINES) shown.push('...');
  return shown.join('\n');
}

interface Marked {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** The longest common subsequence by table, because the texts are short. */
function align(a: readonly string[], b: readonly string[]): Marked[] {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const marked: Marked[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      marked.push({ mark: ' ', line: left });
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      marked.push({ mark: '-', line: left });
      i++;
    } else {
      marked.push({ mark: '+', line: right ?? '' });
      j++;
    }
  }
  return marked;
}

function cut(line: string): string {
  return line.length > MAX_WIDTH ? `${line.slice(0, MAX_WIDTH)}... (${line.length} characters)` : line;
}
