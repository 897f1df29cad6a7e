export interface FittedLines {
  readonly text: string;
  /** How many of the lines are in it. */
  readonly shown: number;
}

/**
 * As many whole lines as fit into `maxBytes` of UTF-8 together with what `notice` says about the rest.
 * @param notice for a number of lines that are shown; undefined: there is nothing to say
 */
export function fitLines(
  lines: readonly string[],
  maxBytes: number,
  notice: (shown: number) => string | undefined,
): FittedLines {
  const ends: number[] = [0];
  for (const line of lines) {
    const end = (ends.at(-1) ?? 0) + Buffer.byteLength(line) + 1;
    if (end - 1 > maxBytes) break;
    ends.push(end);
  }
  for (let shown = ends.length - 1; shown >= 0; shown--) {
    const said = notice(shown);
    const bytes = (ends[shown] ?? 0) + (said === undefined ? -1 : Buffer.byteLength(said));
    if (bytes > maxBytes && shown > 0) continue;
    return { text: [...lines.slice(0, shown), ...(said === undefined ? [] : [said])].join('\n'), shown };
  }
  return { text: '', shown: 0 };
}
