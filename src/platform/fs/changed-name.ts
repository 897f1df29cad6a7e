import { unseenCharacters } from '../../base/unseen-characters.js';
import { BEYOND_ASCII, type BinaryPath, toText } from './binary-fs.js';

/**
 * A path as lists of changes name it: every character of it, and each in sight. One that cannot be seen is `\u{200B}`,
 * a byte that is no UTF-8 `\xNN`, and a backslash that would read as the start of either is `\u{5C}`.
 */
export function changedName(path: BinaryPath): string {
  if (PLAIN.test(path)) return path;
  return path.replace(PIECES, (piece) =>
    piece.length === 1 && piece > '\x7f'
      ? toText(piece)
      : toText(piece).replace(LOOKS_ESCAPED, escaped).replace(unseenCharacters(), escaped),
  );
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`;
}

const PLAIN = /^[ -[\]-~]*$/;
const PIECES = new RegExp(`[\\x00-\\x7f]+|${BEYOND_ASCII.source}`, 'g');
const LOOKS_ESCAPED = /\\(?=x[0-9a-f]{2}|u\{[0-9a-f]+\})/gi;
