import { type Field, isAssumed, knownText, type Piece, textPiece } from '../field.js';
import type { Word, WordPart } from '../parse-shell.js';
import type { Scope } from '../scope.js';
import { toGlobPieces } from './glob-match.js';
import { toField } from './to-field.js';
import { LIST_BREAK } from './value-pieces.js';

/** Splits what came of unquoted expansions at the separators, and makes the fields. */
export class Splitter {
  readonly #separators: string;
  readonly #word: Word;
  readonly #fields: Piece[][] = [];
  #current: Piece[] | undefined;

  constructor(scope: Scope, word: Word) {
    const separators = scope.variables.get('IFS');
    this.#separators = separators?.kind === 'text' ? separators.text : ' \t\n';
    this.#word = word;
  }

  split(groups: readonly Piece[][]): Field[] {
    const { parts } = this.#word;
    groups.forEach((pieces, index) => {
      const part = parts?.[index];
      for (const piece of pieces) {
        if (piece === LIST_BREAK) this.#end();
        else if (piece.kind === 'text' && part !== undefined && isUnquotedExpansion(part))
          this.#add(piece.text, piece.assumed);
        else this.#push(piece);
      }
      if (pieces.length === 0 && part !== undefined && !isUnquotedExpansion(part) && !isList(part))
        this.#push(textPiece(''));
    });
    this.#end();
    return this.#fields.map((pieces) => {
      const field = toField(pieces, this.#word);
      const isSure = this.#fields.length > 1 && !isAssumed(field);
      return isSure ? { ...field, shown: knownText(field) || field.shown } : field;
    });
  }

  #add(text: string, assumed: boolean): void {
    if (text === '' && assumed) this.#push(textPiece('', true));
    let start = 0;
    for (let at = 0; at <= text.length; at++) {
      const isEnd = at === text.length;
      if (!isEnd && !this.#separators.includes(text.charAt(at))) continue;
      for (const piece of toGlobPieces(text.slice(start, at), assumed)) this.#push(piece);
      start = at + 1;
      if (!isEnd) this.#end();
    }
  }

  #push(piece: Piece): void {
    if (this.#current === undefined) this.#current = [piece];
    else this.#current.push(piece);
  }

  #end(): void {
    if (this.#current !== undefined) this.#fields.push(this.#current);
    this.#current = undefined;
  }
}

function isUnquotedExpansion({ type }: WordPart): boolean {
  return type === 'SimpleExpansion' || type === 'ParameterExpansion' || type === 'CommandExpansion';
}

/** `"$@"` without items is no word at all. */
function isList(part: WordPart): boolean {
  return part.type === 'DoubleQuoted' && part.parts.length > 0;
}
