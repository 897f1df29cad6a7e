export interface KeywordScanner {
  /** The groups of which a word stands in the text, or undefined when there is none. Case does not matter. */
  scan(text: string): ReadonlySet<number> | undefined;
}

/**
 * Looks for many ASCII words in one pass (Aho and Corasick): so that a text is read once, whatever the number of rules,
 * and only the rules whose words stand there read it again.
 */
export function createKeywordScanner(groups: readonly (readonly string[])[]): KeywordScanner {
  const symbols = symbolTable(groups.flat().join(''));
  const width = Math.max(...symbols) + 1;
  const { next, hits } = buildAutomaton(groups, symbols, width);
  return {
    scan(text) {
      let found: Set<number> | undefined;
      let state = 0;
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        state = next[state * width + (code < 128 ? (symbols[code] ?? 0) : 0)] ?? 0;
        const hit = hits[state];
        if (hit === undefined) continue;
        found ??= new Set();
        for (const group of hit) found.add(group);
      }
      return found;
    },
  };
}

/** Every letter of the words gets a small number, in both cases the same; all else is 0. */
function symbolTable(letters: string): Uint8Array {
  const symbols = new Uint8Array(128);
  [...new Set(letters.toLowerCase())].forEach((letter, index) => {
    symbols[letter.charCodeAt(0)] = index + 1;
    symbols[letter.toUpperCase().charCodeAt(0)] = index + 1;
  });
  return symbols;
}

interface Automaton {
  /** The state after a symbol in a state. */
  readonly next: Uint16Array;
  /** The groups whose words end in a state. */
  readonly hits: readonly (readonly number[] | undefined)[];
}

function buildAutomaton(
  groups: readonly (readonly string[])[],
  symbols: Uint8Array,
  width: number,
): Automaton {
  const next = new Uint16Array((groups.flat().join('').length + 1) * width);
  const hits: (number[] | undefined)[] = [undefined];
  groups.forEach((words, group) => {
    for (const word of words) {
      let state = 0;
      for (const letter of word) {
        const slot = state * width + (symbols[letter.charCodeAt(0)] ?? 0);
        if (next[slot] === 0) next[slot] = hits.push(undefined) - 1;
        state = next[slot] ?? 0;
      }
      hits[state] = [...(hits[state] ?? []), group];
    }
  });
  linkFailures(next, hits, width);
  return { next, hits };
}

/** Where a word breaks off, its longest end that begins a word goes on: breadth first, so shorter ones are done. */
function linkFailures(next: Uint16Array, hits: (number[] | undefined)[], width: number): void {
  const fallback = new Uint16Array(hits.length);
  const queue = [0];
  for (const state of queue) {
    for (let symbol = 1; symbol < width; symbol++) {
      const slot = state * width + symbol;
      const child = next[slot] ?? 0;
      const elsewhere = state === 0 ? 0 : (next[(fallback[state] ?? 0) * width + symbol] ?? 0);
      if (child === 0) {
        next[slot] = elsewhere;
        continue;
      }
      fallback[child] = elsewhere;
      const inherited = hits[elsewhere];
      if (inherited !== undefined) hits[child] = [...(hits[child] ?? []), ...inherited];
      queue.push(child);
    }
  }
}
