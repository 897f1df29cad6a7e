import { REDACTION_MARKER } from '../contract/call.js';
import { isAssignedSecret, type LinkKind } from './is-assigned-secret.js';

/** What the name of a secret ends with. The words by which `redact` knows that this rule has work. */
export const ASSIGNMENT_WORDS: readonly string[] = [
  'pass',
  'pwd',
  'secret',
  'token',
  'credential',
  '_auth',
  'key',
];

const NAME_END =
  /(?:pass(?:word|wd|phrase|wort|code)|pwd|(?:api|access|private|secret|auth|encryption|encrypt|signing|account|master|shared|subscription|service|license|session)[_-]?key|secret|token|credentials?|_auth|_pass(?![A-Za-z]))(?:[_-]?(?:base|value|b64|base64|[0-9]{1,3}))?/gi;

/** From the name to its value: `=`, `:`, `=>`, `:=`, or `>` of an XML element; a quote may close the name. */
const LINK = /(?:\\?["'`])?([ \t]{0,8})(?:=>|:=|[:=](?![:=])|>)([ \t]{0,8})/y;
const GAP = /[ \t]{1,4}(?!-)/y;

const QUOTED: readonly RegExp[] = [
  /\\"([^"\\\r\n]{1,4096})/y,
  /"((?:[^"\\\r\n]|\\[^\r\n]){1,4096})/y,
  /'((?:[^'\\\r\n]|\\[^\r\n]){1,4096})/y,
  /`([^`\\\r\n]{1,4096})/y,
];
const BARE = /[^\s"'`,;&|<>(){}[\]\\]+/y;

const LONGEST_NAME = 64;

/**
 * Hides values given to names such as `password`, `client_secret`, `API_KEY`, `_authToken`: in JSON, YAML, environment
 * files, connection strings, queries, XML and command lines. Placeholders, types, code and prose stay.
 */
export function hideAssignments(text: string): string {
  let out = '';
  let copied = 0;
  let bare: Span = { from: 0, to: 0 };
  NAME_END.lastIndex = 0;
  for (let match = NAME_END.exec(text); match !== null; match = NAME_END.exec(text)) {
    const name = nameEndingAt(text, match.index, NAME_END.lastIndex);
    const link = linkAfter(text, NAME_END.lastIndex, name);
    if (link === undefined) continue;
    const quoted = quotedAt(text, link.to);
    if (quoted === undefined) bare = bareAt(text, link.to, bare);
    const span = quoted ?? { from: link.to, to: bare.from <= link.to ? bare.to : link.to };
    if (span.to <= span.from) continue;
    const value = text.slice(span.from, span.to);
    const context = {
      word: match[0],
      name,
      link: link.kind,
      quoted: quoted !== undefined,
      next: text.charAt(span.to),
    };
    if (!isAssignedSecret(value, context)) continue;
    out += text.slice(copied, span.from) + REDACTION_MARKER;
    copied = span.to;
    NAME_END.lastIndex = span.to;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The whole name and the character before it, as `--db-password`. */
function nameEndingAt(text: string, wordAt: number, end: number): string {
  let from = wordAt;
  while (from > 0 && end - from < LONGEST_NAME && isNameUnit(text.charCodeAt(from - 1))) from--;
  return text.slice(from, end);
}

/** A letter, a digit, or one of `_.$-`. */
function isNameUnit(unit: number): boolean {
  if ((unit >= 0x30 && unit <= 0x39) || unit === 0x5f || unit === 0x24) return true;
  return isLetter(unit) || unit === 0x2d || unit === 0x2e;
}

function isLetter(unit: number): boolean {
  return (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);
}

function linkAfter(text: string, at: number, name: string): { kind: LinkKind; to: number } | undefined {
  LINK.lastIndex = at;
  const link = LINK.exec(text);
  if (link !== null) {
    if (link[0].includes('>') && !link[0].includes('=') && text.charAt(at - name.length - 1) !== '<')
      return undefined;
    const spaced = (link[1] ?? '') !== '' || (link[2] ?? '') !== '';
    return { kind: spaced ? 'spaced' : 'tight', to: LINK.lastIndex };
  }
  GAP.lastIndex = at;
  return name.startsWith('-') && GAP.test(text) ? { kind: 'option', to: GAP.lastIndex } : undefined;
}

function quotedAt(text: string, at: number): Span | undefined {
  for (const pattern of QUOTED) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) return { from: pattern.lastIndex - (match[1] ?? '').length, to: pattern.lastIndex };
  }
  return undefined;
}

/** The bare value at `at`. A value that was found once is not read again for a name inside of it. */
function bareAt(text: string, at: number, last: Span): Span {
  if (at >= last.from && at < last.to) return last;
  BARE.lastIndex = at;
  return BARE.test(text) ? { from: at, to: BARE.lastIndex } : { from: at, to: at };
}
