/** One setting of a git configuration: `[section "subsection"] key = value`. Section and key are in lower case. */
export interface GitSetting {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly key: string;
  /** Undefined for a key without a value, which means true. */
  readonly value: string | undefined;
}

/** Reads the settings in order and ignores lines that it does not understand. Included files are not read. */
export function parseGitConfig(text: string): readonly GitSetting[] {
  const settings: GitSetting[] = [];
  let at: Pick<GitSetting, 'section' | 'subsection'> | undefined;
  // A backslash at the end of a line continues it.
  for (const line of text.replace(/^\ufeff/, '').split(/(?<!(?<!\\)(?:\\\\)*\\)\r?\n/)) {
    const header = HEADER.exec(line);
    if (header !== null) {
      const [, section = '', quoted] = header;
      at = { section: section.toLowerCase(), subsection: quoted?.replace(/\\(.)/g, '$1') };
    }
    const [, key, rest] = KEY.exec(line.slice(header?.[0].length ?? 0)) ?? [];
    if (key === undefined || at === undefined) continue;
    settings.push({
      ...at,
      key: key.toLowerCase(),
      value: rest === undefined ? undefined : settingValue(rest),
    });
  }
  return settings;
}

const HEADER = /^\s*\[([-.\w]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const KEY = /^\s*([a-z][-a-z0-9]*)\s*(?:=([\s\S]*)|(?:[#;].*)?)$/i;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b' };

/**
 * Quotes may begin and end anywhere. Outside quotes, a comment ends the value, and trailing blanks are not
 * part of it.
 */
function settingValue(text: string): string {
  let value = '';
  let kept = 0;
  let quoted = false;
  for (const [token] of text.trimStart().matchAll(/\\[\s\S]|[\s\S]/g)) {
    if (token === '"') quoted = !quoted;
    else if (!quoted && (token === '#' || token === ';')) break;
    else if (token.length === 2) value += unescaped(token);
    else value += token;
    if (quoted || !/\s/.test(token)) kept = value.length;
  }
  return value.slice(0, kept);
}

function unescaped(token: string): string {
  const char = token.slice(1);
  return char === '\n' || char === '\r' ? '' : (ESCAPES[char] ?? char);
}

/**
 * Writes settings so that `parseGitConfig` returns the same ones. Settings that cannot be written are left
 * out.
 */
export function formatGitConfig(settings: readonly GitSetting[]): string {
  return settings
    .filter(({ subsection = '', value = '' }) => !/[\0\r\n]/.test(subsection + value))
    .map(({ section, subsection, key, value }) => {
      const name = subsection === undefined ? section : `${section} "${escaped(subsection)}"`;
      return `[${name}]\n\t${key}${value === undefined ? '' : ` = "${escaped(value)}"`}\n`;
    })
    .join('');
}

function escaped(text: string): string {
  return text.replace(/[\\"]/g, '\\$&');
}
