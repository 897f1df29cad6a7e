const NOT_ASCII = /[^\0-\x7f]/;

/** Makes spellings in upper and in lower case one. No character outside of ASCII becomes one of ASCII. */
export function foldCase(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return Array.from(text, foldCharacter).join('');
}

function foldCharacter(character: string): string {
  if (character <= '\x7f') return character.toLowerCase();
  const upper = character.toUpperCase();
  return upper.length === character.length && upper > '\x7f' ? upper : character;
}
