/**
 * Whether a name is one of some patterns, in which `*` stands for any characters, none too. Without regular
 * expressions: compiling those of all rules takes longer than asking about every variable of an environment.
 */
export function createNameMatcher(
  patterns: readonly string[],
  ignoreCase: boolean,
): (name: string) => boolean {
  const whole = new Set<string>();
  const parts: (readonly string[])[] = [];
  const fold = (text: string): string => (ignoreCase ? text.toUpperCase() : text);
  for (const pattern of patterns) {
    const folded = fold(pattern);
    if (folded.includes('*')) parts.push(folded.split(/\*+/));
    else whole.add(folded);
  }
  return (name) => {
    const folded = fold(name);
    return whole.has(folded) || parts.some((each) => consistsOf(folded, each));
  };
}

/** Whether a text starts with the first part, ends with the last, and holds the others in order between them. */
function consistsOf(text: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of parts.slice(1, -1)) {
    const place = text.indexOf(part, from);
    if (place === -1) return false;
    from = place + part.length;
  }
  return from + last.length <= text.length;
}
