import { REDACTION_MARKER } from '../contract/call.js';
import { isPlaceholder, looksRandom } from './secret-shapes.js';

/** Endings of secret names. `redact` looks for these words to decide whether this rule applies. */
export const ASSIGNMENT_WORDS: readonly string[] = [
  'pass',
  'pwd',
  'secret',
  'token',
  'credential',
  'creds',
  'jwt',
  '_auth',
  'key',
];

const NAME_END =
  /(?:pass(?:word|wd|phrase|wort|code)|pwd|(?:api|access|private|secret|auth|encryption|encrypt|signing|account|master|shared|subscription|service|license|session)[_-]?key|secret|token|credentials?|creds|jwt|_auth|_pass(?![A-Za-z]))(?:[_-]?(?:base64|base|value|b64|[0-9]{1,3}))?/gi;

/**
 * Between the name and its value: `=`, `:`, `=>`, `:=`, or `>` of an XML element; a quote may close the name.
 */
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
 * Hides values of names such as `password`, `client_secret`, `API_KEY`, `_authToken` in JSON, YAML,
 * environment files, connection strings, queries, XML and command lines. Placeholders, types, code and prose
 * stay.
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
      isEqual: link.isEqual,
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

/** The whole name with the characters before it, as in `--db-password`. */
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

function linkAfter(
  text: string,
  at: number,
  name: string,
): { kind: LinkKind; isEqual: boolean; to: number } | undefined {
  LINK.lastIndex = at;
  const link = LINK.exec(text);
  if (link !== null) {
    if (link[0].includes('>') && !link[0].includes('=') && text.charAt(at - name.length - 1) !== '<')
      return undefined;
    const spaced = (link[1] ?? '') !== '' || (link[2] ?? '') !== '';
    return { kind: spaced ? 'spaced' : 'tight', isEqual: link[0].includes('='), to: LINK.lastIndex };
  }
  GAP.lastIndex = at;
  return name.startsWith('-') && GAP.test(text)
    ? { kind: 'option', isEqual: false, to: GAP.lastIndex }
    : undefined;
}

function quotedAt(text: string, at: number): Span | undefined {
  for (const pattern of QUOTED) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) return { from: pattern.lastIndex - (match[1] ?? '').length, to: pattern.lastIndex };
  }
  return undefined;
}

/** The unquoted value at `at`. A value that was found once is not read again for a name inside it. */
function bareAt(text: string, at: number, last: Span): Span {
  if (at >= last.from && at < last.to) return last;
  BARE.lastIndex = at;
  return BARE.test(text) ? { from: at, to: BARE.lastIndex } : { from: at, to: at };
}

/** The connection of name and value: `a=b`, `a: b`, or `--a b`. */
type LinkKind = 'tight' | 'spaced' | 'option';

interface AssignmentContext {
  /** The significant end of the name, such as `password` or `api_key`. */
  readonly word: string;
  /** The whole name, with the dashes of an option. */
  readonly name: string;
  readonly link: LinkKind;
  /** They are connected by `=`. */
  readonly isEqual: boolean;
  readonly quoted: boolean;
  /** The character after the value. */
  readonly next: string;
}

const PASSWORD = /^_?(?:pass|pwd)/i;

/** Names that end like a secret's but are not secret: paging, cancelling, language models, tables. */
const HARMLESS_NAME =
  /(?:next|page|paging|continuation|continue|cancell?ation|cancel|stop|sync|eos|bos|sep|cls|pad|unk|mask|eot|per|max|min|num|total|prompt|input|output|primary|foreign|public|sort|partition)[_-]?(?:page[_-]?)?(?:token|key)$/i;

/** Names of the working directory, which resemble a password's. */
const DIRECTORY_NAME = /^(?:old)?pwd$/i;
const DIRECTORY = /^[/~.\\]|^[A-Za-z]:/;

/** Types that have a digit in their name. */
const TYPE = /^(?:u?int|[iuf]|float|uint)(?:8|16|32|64|128)(?:array)?$|^(?:sha|md|base|utf-?|hs|rs|es)\d+$/i;

/** self.password, config.db.token: a reference, not a value. */
const CODE = /^[A-Za-z_$][A-Za-z_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+!?$/;

/** Prose contains small words. */
const SENTENCE =
  /[.?!:]$|(?:^|\s)(?:a|an|the|is|are|be|must|your|you|for|and|or|to|of|in|not|with|has|enter|please)\s/i;

const LONGEST_COMPARED = 128;

/** True if the value of such a name is a secret, and not a type, code, prose or empty. */
function isAssignedSecret(whole: string, context: AssignmentContext): boolean {
  const value = whole.slice(0, LONGEST_COMPARED);
  const password = PASSWORD.test(context.word);
  const isVariable = isEnvironment(context);
  if (value.length < (password || isVariable ? 3 : 6) || isPlaceholder(value) || TYPE.test(value))
    return false;
  if (HARMLESS_NAME.test(context.name)) return false;
  if (DIRECTORY_NAME.test(context.name) && DIRECTORY.test(value)) return false;
  if (context.quoted) return isQuotedSecret(value, password, context);
  // A call, an index, or a value that is already partly hidden.
  if (/[([{]/.test(context.next) || CODE.test(value)) return false;
  if (!password) return isVariable || isRandomEnough(value, context);
  return /[^A-Za-z_]/.test(value) ? isUnwordlike(value, context) : isWordAPassword(value, context);
}

/** `API_TOKEN=x`: a line of an environment file, where every text is the value. */
function isEnvironment({ name, link, isEqual }: AssignmentContext): boolean {
  return link === 'tight' && isEqual && /^[A-Z][A-Z0-9_]*$/.test(name);
}

function isQuotedSecret(value: string, password: boolean, context: AssignmentContext): boolean {
  const hasBlanks = /\s/.test(value);
  if (!password && !hasBlanks) return isEnvironment(context) || looksRandom(value);
  // Words with blanks: after `=` they are a value, after a colon they may be a message.
  if (!password) return !SENTENCE.test(value) && (context.isEqual || /\d/.test(value));
  return !/\s/.test(value) || (!SENTENCE.test(value) && !/pass(?:word|phrase)/i.test(value));
}

function isRandomEnough(value: string, context: AssignmentContext): boolean {
  return looksRandom(value) || (context.link === 'option' && /\d/.test(value) && /[A-Za-z]/.test(value));
}

/**
 * A password with characters other than letters. Near a blank it must contain a digit, because prose has
 * dashes too.
 */
function isUnwordlike(value: string, context: AssignmentContext): boolean {
  if (context.link === 'tight') return value.length >= 4 || /\d/.test(value);
  return /\d/.test(value) || /[!@#$%^*+=~]/.test(value);
}

/** Letters only: a password in text for programs, a variable or word in text for people. */
function isWordAPassword(value: string, context: AssignmentContext): boolean {
  if (context.link === 'spaced' || value.length < 4) return false;
  if (context.link === 'option') return value.length >= 8 && value !== value.toUpperCase();
  return (
    context.name === context.name.toUpperCase() || context.name.startsWith('-') || /^[A-Z]/.test(context.name)
  );
}
