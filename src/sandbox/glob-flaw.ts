/** What the matcher takes. */
const MAX_LENGTH = 65_536;

/**
 * What makes a glob mean less than its author thinks; undefined: nothing. The matcher itself would read an unclosed
 * bracket as plain text, and a deny pattern that matches nothing protects nothing.
 */
export function globFlawOf(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'it is empty';
  if (pattern.startsWith('!') && pattern[1] !== '(') return 'a deny pattern cannot be negated';
  if (pattern.includes('\0')) return 'it holds a NUL character';
  if (pattern.length > MAX_LENGTH) return `it is too long (more than ${MAX_LENGTH} characters)`;
  const open: string[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') {
      if (++at >= pattern.length) return 'it ends in a lone backslash';
    } else if (char === '[') {
      const end = classEnd(pattern, at);
      if (end === undefined) return 'a "[" is not closed';
      at = end;
    } else if (char === '{') open.push('{');
    else if (char === '(' && '?*+@!'.includes(pattern[at - 1] ?? ' ')) open.push('(');
    else if (char === '}' && open.pop() !== '{') return 'a "}" was never opened';
    else if (char === ')' && open.at(-1) === '(') open.pop();
  }
  const left = open.pop();
  return left === undefined ? undefined : `a "${left}" is not closed`;
}

// The first character of a class is never its end: `[]a]` holds a bracket.
function classEnd(pattern: string, start: number): number | undefined {
  let at = start + 1;
  if (pattern[at] === '!' || pattern[at] === '^') at++;
  for (at++; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === ']') return at;
  }
  return undefined;
}
