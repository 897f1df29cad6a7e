import type { Piece } from '../field.js';

/**
 * Whether the pieces could spell `text`. In doubt it says yes: a class or an extended pattern counts as what it could
 * match. Takes time in proportion to both lengths, never more.
 */
export function couldMatch(pieces: readonly Piece[], text: string): boolean {
  const tokens = toTokens(pieces);
  let reached = new Uint8Array(text.length + 1);
  reached[0] = 1;
  for (const token of tokens) {
    const next = new Uint8Array(text.length + 1);
    let isOpen = false;
    for (let at = 0; at <= text.length; at++) {
      if (token.any) {
        isOpen ||= reached[at] === 1;
        if (isOpen) next[at] = 1;
      } else if (at > 0 && reached[at - 1] === 1 && token.accepts(text.charAt(at - 1))) next[at] = 1;
    }
    reached = next;
  }
  return reached[text.length] === 1;
}

type Token = { readonly any: true } | { readonly any: false; accepts(character: string): boolean };

const ANY: Token = { any: true };
const ONE: Token = { any: false, accepts: () => true };

function toTokens(pieces: readonly Piece[]): Token[] {
  const tokens: Token[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      for (let at = 0; at < piece.text.length; at++) {
        const wanted = piece.text.charAt(at);
        tokens.push({ any: false, accepts: (character) => character === wanted });
      }
    } else if (piece.kind === 'unknown' || piece.text === '*') {
      if (tokens.at(-1) !== ANY) tokens.push(ANY);
    } else if (piece.text === '?') tokens.push(ONE);
    else if (piece.text.startsWith('[')) tokens.push(toClass(piece.text));
    else tokens.push(ANY);
  }
  return tokens;
}

function toClass(text: string): Token {
  const inner = text.slice(1, -1).replaceAll(/["'\\]/g, '');
  const isNegated = /^[!^]/.test(inner);
  const members = isNegated ? inner.slice(1) : inner;
  if (/\[[:.=]|[$`]/.test(members)) return ONE;
  return { any: false, accepts: (character) => isMember(members, character) !== isNegated };
}

function isMember(members: string, character: string): boolean {
  for (let at = 0; at < members.length; at++) {
    const isRange = members[at + 1] === '-' && at + 2 < members.length;
    if (!isRange) {
      if (members[at] === character) return true;
      continue;
    }
    if (character >= members.charAt(at) && character <= members.charAt(at + 2)) return true;
    at += 2;
  }
  return false;
}

/** Turns a text that is read as a pattern (an unquoted expansion) into pieces. */
export function toGlobPieces(text: string, assumed: boolean): Piece[] {
  const pieces: Piece[] = [];
  for (const part of text.split(/([*?]|\[[^\]/]+\])/)) {
    if (part === '') continue;
    const isGlob = part === '*' || part === '?' || (part.length > 2 && part.startsWith('['));
    pieces.push(isGlob ? { kind: 'glob', text: part } : { kind: 'text', text: part, assumed });
  }
  return pieces;
}
