/** Whether a name is one of some patterns, in which `*` stands for any characters, none too. */
export function createNameMatcher(
  patterns: readonly string[],
  ignoreCase: boolean,
): (name: string) => boolean {
  const find = createNameFinder([patterns], ignoreCase);
  return (name) => find(name) === 0;
}

/** The first row of patterns of which one matches a name; `Infinity` when none does. */
export type NameFinder = (name: string) => number;

interface NamePattern {
  readonly row: number;
  /** What stands around each `*`. */
  readonly parts: readonly string[];
}

/**
 * Without regular expressions: compiling those of all rules takes longer than asking about every variable of an
 * environment. A name is compared only with patterns that begin or end as it does, or with `*` at both ends.
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
      // The patterns of a list stand in the order of their rows.
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
