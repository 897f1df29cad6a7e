export interface CodeStrings {
  /** The code with what is in its strings blanked, character for character. */
  readonly bare: string;
  readonly strings: readonly StringLiteral[];
}

export interface StringLiteral {
  readonly content: string;
  /** In backquotes, where these run what they hold. */
  readonly isRun: boolean;
}

/**
 * Tells the strings of a program from its code, as nearly as can be told of a language that is not parsed: single,
 * double and back quotes, tripled ones too, `\` before a character. A quote that is never closed is none.
 */
export function readStrings(code: string, runsBackquotes: boolean): CodeStrings {
  const strings: StringLiteral[] = [];
  let bare = '';
  for (let at = 0; at < code.length; ) {
    const quote = code.charAt(at);
    const mark = code.startsWith(quote.repeat(3), at) && quote !== '`' ? quote.repeat(3) : quote;
    const end = QUOTES.has(quote) ? endOf(code, at + mark.length, mark) : -1;
    if (end === -1) {
      bare += quote;
      at++;
      continue;
    }
    const content = code.slice(at + mark.length, end);
    bare += mark + content.replaceAll(/[^\n]/g, ' ') + mark;
    strings.push({
      content: content.replaceAll(/\\(["'`\\])/g, '$1'),
      isRun: runsBackquotes && quote === '`',
    });
    at = end + mark.length;
  }
  return { bare, strings };
}

const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);

function endOf(code: string, from: number, mark: string): number {
  const spansLines = mark.length === 3 || mark === '`';
  for (let at = from; at < code.length; at++) {
    const character = code.charAt(at);
    if (character === '\\') at++;
    else if (character === '\n' && !spansLines) return -1;
    else if (code.startsWith(mark, at)) return at;
  }
  return -1;
}
