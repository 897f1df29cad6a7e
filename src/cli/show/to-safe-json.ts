/** Controls, direction overrides and what nobody can see: JSON may hold them as they are, a terminal may not. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** JSON that means the same and cannot drive the terminal it is shown on. On one line, unless `indent` is given. */
export function toSafeJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, null, indent);
  // A line end in the text is layout: inside strings JSON has escaped it already.
  return text.replace(UNSAFE, (character) => (character === '\n' ? character : escapeUnits(character)));
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
