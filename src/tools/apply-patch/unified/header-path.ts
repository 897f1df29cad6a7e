import { unreadablePatch } from '../patch-error.js';

/** Stands for no file. */
export const NO_FILE = '/dev/null';

/** The path of a `---` or `+++` line: up to a tab (a time may follow), or quoted as git quotes. */
export function headerPath(line: string, number: number): string {
  return unquotePath(line.slice(4).replace(/\r$/, ''), number);
}

/** A path as git writes it: in quotes with C's escapes where it holds anything unusual. */
export function unquotePath(text: string, line: number): string {
  const path = text.startsWith('"') ? unquote(text, line) : (text.split('\t', 1)[0] ?? '').trimEnd();
  if (path === '') throw unreadablePatch(line, 'Missing file path.');
  return path;
}

function unquote(text: string, line: number): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (quoted === undefined) throw unreadablePatch(line, 'Unterminated quoted path.');
  const bytes = quoted.replace(/[^\x00-\x7f]/gu, toLatin1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => {
    if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    const meant = ESCAPES[code];
    if (meant === undefined) throw unreadablePatch(line, `unknown escape \\${code} in a quoted path.`);
    return meant;
  });
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Octal escapes are bytes, so the rest becomes bytes too. */
function toLatin1(char: string): string {
  return Buffer.from(char, 'utf8').toString('latin1');
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
};
