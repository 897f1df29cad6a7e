import type { Word, WordPart } from '../parse/parse-shell.js';
import { exactText, type Field, isAssumed, knownText, type Piece, textPiece } from '../words/field.js';
import { toGlobPieces } from '../words/place.js';
import type { Scope } from '../words/scope.js';

/** Splits what came of unquoted expansions at the separators. The groups are the pieces of each part of the word. */
export function splitFields(groups: readonly Piece[][], word: Word, scope: Scope): Field[] {
  const ifs = scope.variables.get('IFS');
  const separators = ifs?.kind === 'text' ? ifs.text : ' \t\n';
  const fields: Piece[][] = [];
  let current: Piece[] | undefined;
  const push = (piece: Piece): void => {
    if (current === undefined) {
      current = [];
      fields.push(current);
    }
    current.push(piece);
  };
  const pushSplit = (text: string, assumed: boolean): void => {
    if (text === '' && assumed) push(textPiece('', true));
    let start = 0;
    for (let at = 0; at <= text.length; at++) {
      const isEnd = at === text.length;
      if (!isEnd && !separators.includes(text.charAt(at))) continue;
      for (const piece of toGlobPieces(text.slice(start, at), assumed)) push(piece);
      start = at + 1;
      if (!isEnd) current = undefined;
    }
  };
  groups.forEach((pieces, index) => {
    const part = word.parts?.[index];
    const isUnquoted = part !== undefined && /^(?:Simple|Parameter|Command)Expansion$/.test(part.type);
    for (const piece of pieces) {
      if (piece.kind === 'text' && isUnquoted) pushSplit(piece.text, piece.assumed);
      else push(piece);
    }
    // `"$@"` without arguments is no word; `""` is one.
    const isEmptyList = part?.type === 'DoubleQuoted' && part.parts.length > 0;
    if (pieces.length === 0 && part !== undefined && !isUnquoted && !isEmptyList) push(textPiece(''));
  });
  return fields.map((pieces) => {
    const field = toField(pieces, word);
    const isSure = fields.length > 1 && !isAssumed(field);
    return isSure ? { ...field, shown: knownText(field) || field.shown } : field;
  });
}

/** A word of these pieces, and what is shown of it. */
export function toField(pieces: readonly Piece[], word: Word): Field {
  const isPlain = word.parts === undefined || word.parts.every((part) => isPlainPart(part));
  const field = { pieces, shown: word.value, literal: isPlain && !word.text.startsWith('~') };
  const exact = exactText(field);
  return exact === undefined || isAssumed(field) ? field : { ...field, shown: exact };
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every((child) => child.type === 'Literal');
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}
