import { unseenCharacters } from '../../base/unseen-characters.js';
import { BEYOND_ASCII, type BinaryPath, toText } from './binary-fs.js';

/**
 * A path for lists of changes, complete and visible. An invisible character is `\u{200B}`, a byte that is not
 * UTF-8 `\xNN`, and an ambiguous backslash `\u{5C}`.
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
