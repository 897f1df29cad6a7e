/** Whether a name matches one of several patterns, in which `*` matches any characters, including none. */
export function createNameMatcher(
  patterns: readonly string[],
  ignoreCase: boolean,
): (name: string) => boolean {
  const find = createNameFinder([patterns], ignoreCase);
  return (name) => find(name) === 0;
}

/** The index of the first row with a matching pattern; `Infinity` if there is none. */
export type NameFinder = (name: string) => number;

interface NamePattern {
  readonly row: number;
  /** The texts around each `*`. */
  readonly parts: readonly string[];
}

/**
 * Without regular expressions: compiling those of all rules takes longer than checking a whole environment. A
 * name is compared only with patterns with the same start or end, or with `*` at both ends.
 */
export function createNameFinder(rows: readonly (readonly string[])[], ignoreCase: boolean): NameFinder {
  const fold = (text: string): string => (ignoreCase ? text.toUpperCase() : text);
  const whole = new Map<string, number>();
  const beginning = new Map<string, NamePattern[]>();
  const ending = new Map<string, NamePattern[]>();
  const within: NamePattern[] = [];
  const listFor = (parts: readonly string[]): NamePattern[] => {
    const first = parts[0]?.charAt(0) ?? '';
    if (first !== '') return listIn(beginning, first);
    const last = parts.at(-1)?.at(-1) ?? '';
    return last === '' ? within : listIn(ending, last);
  };
  rows.forEach((patterns, row) => {
    for (const pattern of patterns) {
      const folded = fold(pattern);
      if (!folded.includes('*')) {
        if (!whole.has(folded)) whole.set(folded, row);
        continue;
      }
      const parts = folded.split('*');
      listFor(parts).push({ row, parts });
    }
  });
  return (name) => {
    const folded = fold(name);
    const lists = [beginning.get(folded.charAt(0)), ending.get(folded.charAt(folded.length - 1)), within];
    let found = whole.get(folded) ?? Number.POSITIVE_INFINITY;
    for (const list of lists) {
      // The patterns in a list are in row order.
      const match = list?.find(({ row, parts }) => row >= found || consistsOf(folded, parts));
      if (match !== undefined) found = Math.min(found, match.row);
    }
    return found;
  };
}

function listIn(lists: Map<string, NamePattern[]>, key: string): NamePattern[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/**
 * Whether a text starts with the first part, ends with the last, and contains the others in order between
 * them.
 */
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
