import { unseenCharacters } from '../base/unseen-characters.js';

/**
 * Makes text safe for a person who decides: invisible characters, characters that move text and, with
 * `lookalikes`, characters that resemble others are replaced by their number: `‹U+200B›`. Nothing is left
 * out. Line ends stay.
 * @param lookalikes for text that programs read: commands, names, addresses. Prose may use any script.
 * @param isShortened we may have cut the text: then a `…` at its end, or at the end of a quoted part, is ours
 */
export function toVisible(
  text: string,
  {
    lookalikes = false,
    isShortened = false,
  }: { readonly lookalikes?: boolean; readonly isShortened?: boolean } = {},
): string {
  const seen = text.replace(unseenCharacters(), nameAll).replace(manyMarks(), nameAll);
  if (!lookalikes) return seen;
  const parts = isShortened ? seen.split(CUT_MARK) : [seen];
  return parts.map((part) => part.replace(WORD, nameLookalikes)).join('…');
}

const CUT_MARK = /…(?=$|")/;

/*
 * Functions, because V8 takes milliseconds to build a Unicode set: only programs that show text pay for it.
 */

/** More marks on one letter than any language uses would hide text above and below. */
const manyMarks = (): RegExp => /(?<=\p{M}{3})\p{M}+/gu;
const WORD = /[^\s‹›]+/gu;
const otherScript = (): RegExp =>
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
/** Letters that look like Latin ones: a word of only these can pass for a program's name. */
const TWINS = /^[аАВЕеЕсСһіІјЈКМНоОрРԛѕЅТԝхХуУԁɡΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν]+$/u;
/** Dashes, slashes and quotes that a shell does not treat as such. */
const PUNCTUATION = /[‐-―−⁄∕⧸‘-‟՚׳ʹʼˈ‚ǀǃ։׃꞉∶]/u;

function nameLookalikes(word: string): string {
  const letters = word.replace(/[^\p{L}]/gu, '');
  const isMixed = /[A-Za-z]/.test(word) || TWINS.test(letters);
  return Array.from(word, (character) => {
    if (character <= '~') return character;
    const isTwin = (isMixed && otherScript().test(character)) || PUNCTUATION.test(character);
    return isTwin || isCompatible(character) ? nameOf(character) : character;
  }).join('');
}

/** Another form of plain ASCII: full width, mathematical letters. */
function isCompatible(character: string): boolean {
  const plain = character.normalize('NFKC');
  return plain !== character && /^[!-~]+$/.test(plain);
}

function nameAll(characters: string): string {
  return Array.from(characters, (character) => (character === '\n' ? character : nameOf(character))).join('');
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** Replaces line ends by their number, for text that must stay on one line. */
export function inOneLine(text: string): string {
  return text.replaceAll('\n', nameOf('\n'));
}

/** The number of terminal columns of a text. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : MARK.test(character) ? 0 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const MARK = /\p{Mn}/u;

/**
 * Splits text into pieces that fit, so that no terminal wraps a line where a piece could look like a line of
 * ours.
 */
export function toPieces(text: string, columns: number): readonly string[] {
  return cutInto(text, columns, (piece) => piece.length);
}

/**
 * The same for prose: a line ends after a blank, unless a word is longer than half a line. That blank may
 * exceed the width by one column. Nothing is left out.
 */
export function toWords(text: string, columns: number): readonly string[] {
  const lines = cutInto(text, columns, (piece, next) => {
    const end = next === ' ' ? piece.length : piece.lastIndexOf(' ') + 1;
    return widthOf(piece.slice(0, end)) * 2 >= columns ? end : piece.length;
  });
  const isMoved = (at: number): boolean =>
    at > 0 && lines[at]?.startsWith(' ') === true && !lines[at - 1]?.endsWith(' ');
  return lines.map((line, at) => line.slice(isMoved(at) ? 1 : 0) + (isMoved(at + 1) ? ' ' : ''));
}

/** @param endOf how much of a full piece stays in its line if `next` does not fit */
function cutInto(
  text: string,
  columns: number,
  endOf: (piece: string, next: string) => number,
): readonly string[] {
  if (text.length <= columns && !/[^\u0020-\u007e]/.test(text)) return [text];
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const own = widthOf(character);
    if (width + own > columns && piece !== '') {
      const end = endOf(piece, character);
      pieces.push(piece.slice(0, end));
      piece = piece.slice(end);
      width = widthOf(piece);
    }
    piece += character;
    width += own;
  }
  pieces.push(piece);
  return pieces;
}
