import { unseenCharacters } from '../base/unseen-characters.js';

/**
 * Text as it may be shown to a person who decides: what cannot be seen, what moves the text and, where `lookalikes` is
 * set, what looks like another character stands as its number: `‹U+200B›`. Nothing is left out. Line ends stay.
 * @param lookalikes for what a program reads: commands, names, addresses. Prose may be in any script.
 * @param isShortened it may have been cut by us: then a `…` at its end, or at that of what it quotes, is ours
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
 * Functions, because V8 makes a set of Unicode as slowly as it loads a module: a program that shows nothing does not
 * wait for them.
 */

/** More marks on one letter than any language has hide what is below and above. */
const manyMarks = (): RegExp => /(?<=\p{M}{3})\p{M}+/gu;
const WORD = /[^\s‹›]+/gu;
const otherScript = (): RegExp =>
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
/** Letters that cannot be told from Latin ones: a word of them alone can pass for a program's name. */
const TWINS = /^[аАВЕеЕсСһіІјЈКМНоОрРԛѕЅТԝхХуУԁɡΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν]+$/u;
/** Dashes, slashes and quotes that a shell does not take for its own. */
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

/** Another form of something that is plain ASCII: full width, mathematical letters. */
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

/** The text with its line ends by number: for what must stay one line. */
export function inOneLine(text: string): string {
  return text.replaceAll('\n', nameOf('\n'));
}

/** Columns that a text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? 2 : MARK.test(character) ? 0 : 1;
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const MARK = /\p{Mn}/u;

/** The text in pieces that fit, so that no terminal breaks a line where a piece could pass for a line of ours. */
export function toPieces(text: string, columns: number): readonly string[] {
  return cutInto(text, columns, (piece) => piece.length);
}

/**
 * The same for prose: a line ends after a blank, unless a word is longer than half a line. That blank may stand one column
 * further than there are. Nothing is left out.
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

/** @param endOf how much of a full piece stays in its line, when `next` does not fit behind it */
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
