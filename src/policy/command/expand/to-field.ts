import { exactText, type Field, isAssumed, type Piece } from '../field.js';
import type { Word, WordPart } from '../parse-shell.js';

/** A word of these pieces, and what is shown of it. */
export function toField(pieces: readonly Piece[], word: Word): Field {
  const field = { pieces, shown: word.value, literal: isWrittenOut(word) };
  const exact = exactText(field);
  return exact === undefined || isAssumed(field) ? field : { ...field, shown: exact };
}

function isWrittenOut(word: Word): boolean {
  if (word.parts === undefined) return !word.text.startsWith('~');
  return word.parts.every((part) => isPlainPart(part)) && !word.text.startsWith('~');
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return true;
  return part.type === 'DoubleQuoted' && part.parts.every((child) => child.type === 'Literal');
}
