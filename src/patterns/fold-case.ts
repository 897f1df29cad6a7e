const NOT_ASCII = /[^\0-\x7f]/;

/** Makes upper and lower case equal. A non-ASCII character never becomes an ASCII one. */
export function foldCase(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, foldCharacter).join('');
}

function foldCharacter(character: string): string {
  if (character <= '\x7f') return character.toLowerCase();
  const upper = character.toUpperCase();
  return upper.length === character.length && upper > '\x7f' ? upper : character;
}
