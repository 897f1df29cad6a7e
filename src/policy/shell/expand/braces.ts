/** What `{a,b}` or `{1..3}` stands for, as source texts; undefined: too many to look at. */
export function braceAlternatives(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  const alternatives = splitAtCommas(inner);
  if (alternatives.length > MAX_ALTERNATIVES) return undefined;
  return alternatives.length > 1 ? alternatives : toSequence(inner);
}

const MAX_ALTERNATIVES = 256;

/** Commas within quotes, nested braces and substitutions separate nothing. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '\\') at++;
    else if (/["'`]/.test(character)) at = closing(text, at, character);
    else if (/[{(]/.test(character)) depth++;
    else if (/[})]/.test(character)) depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function closing(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote !== "'") at++;
    else if (text[at] === quote) return at;
  }
  return text.length;
}

function toSequence(text: string): readonly string[] | undefined {
  const match = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (match === null) return [`\\{${text}\\}`];
  const [, first = '', last = '', stride = '1'] = match;
  const isLetters = /^[A-Za-z]$/.test(first);
  const [from = 0, to = 0] = [first, last].map((end) => (isLetters ? end.charCodeAt(0) : Number(end)));
  const step = Math.max(1, Math.abs(Number(stride)));
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (!(count <= MAX_ALTERNATIVES)) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const value = from + Math.sign(to - from) * step * index;
    return isLetters ? String.fromCharCode(value) : String(value);
  });
}
