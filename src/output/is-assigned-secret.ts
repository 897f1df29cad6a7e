import { isPlaceholder, looksRandom } from './placeholder.js';

/** How name and value are joined: `a=b`, `a: b`, or `--a b`. */
export type LinkKind = 'tight' | 'spaced' | 'option';

export interface AssignmentContext {
  /** The telling end of the name, as `password` or `api_key`. */
  readonly word: string;
  /** The whole name, with the dashes of an option. */
  readonly name: string;
  readonly link: LinkKind;
  readonly quoted: boolean;
  /** The character after the value. */
  readonly next: string;
}

const PASSWORD = /^_?(?:pass|pwd)/i;

/** Names that end as a secret's does and are none: paging, cancelling, language models, tables. */
const HARMLESS_NAME =
  /(?:next|page|paging|continuation|continue|cancell?ation|cancel|stop|sync|eos|bos|sep|cls|pad|unk|mask|eot|per|max|min|num|total|prompt|input|output|primary|foreign|public|sort|partition)[_-]?(?:page[_-]?)?(?:token|key)$/i;

/** The working directory has a name like a password's. */
const DIRECTORY_NAME = /^(?:old)?pwd$/i;
const DIRECTORY = /^[/~.\\]|^[A-Za-z]:/;

/** Types that have a digit in their name. */
const TYPE = /^(?:u?int|[iuf]|float|uint)(?:8|16|32|64|128)(?:array)?$|^(?:sha|md|base|utf-?|hs|rs|es)\d+$/i;

/** self.password, config.db.token: a place, not a value. */
const CODE = /^[A-Za-z_$][A-Za-z_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+!?$/;

/** Sentences are written with small words between. */
const SENTENCE =
  /[.?!:]$|(?:^|\s)(?:a|an|the|is|are|be|must|your|you|for|and|or|to|of|in|not|with|has|enter|please)\s/i;

const LONGEST_JUDGED = 128;

/** True when a value that is given to a name with a secret's ending is a secret, and not a type, code, prose or blank. */
export function isAssignedSecret(whole: string, context: AssignmentContext): boolean {
  const value = whole.slice(0, LONGEST_JUDGED);
  const password = PASSWORD.test(context.word);
  if (value.length < (password ? 3 : 6) || isPlaceholder(value) || TYPE.test(value)) return false;
  if (HARMLESS_NAME.test(context.name)) return false;
  if (DIRECTORY_NAME.test(context.name) && DIRECTORY.test(value)) return false;
  if (context.quoted) return isQuotedSecret(value, password);
  // A call, an index, or a value of which a part is hidden already.
  if (/[([{]/.test(context.next) || CODE.test(value)) return false;
  if (!password) return isRandomEnough(value, context);
  return /[^A-Za-z_]/.test(value) ? isUnwordlike(value, context) : isWordAPassword(value, context);
}

function isQuotedSecret(value: string, password: boolean): boolean {
  if (!password) return !/\s/.test(value) && looksRandom(value);
  return !/\s/.test(value) || (!SENTENCE.test(value) && !/pass(?:word|phrase)/i.test(value));
}

function isRandomEnough(value: string, context: AssignmentContext): boolean {
  return looksRandom(value) || (context.link === 'option' && /\d/.test(value) && /[A-Za-z]/.test(value));
}

/** A password with something else than letters: beside a blank it takes a digit, for prose has dashes too. */
function isUnwordlike(value: string, context: AssignmentContext): boolean {
  if (context.link === 'tight') return value.length >= 4 || /\d/.test(value);
  return /\d/.test(value) || /[!@#$%^*+=~]/.test(value);
}

/** Letters only: a password where a program reads it, a variable or a word where a person does. */
function isWordAPassword(value: string, context: AssignmentContext): boolean {
  if (context.link === 'spaced' || value.length < 4) return false;
  if (context.link === 'option') return value.length >= 8 && value !== value.toUpperCase();
  return (
    context.name === context.name.toUpperCase() || context.name.startsWith('-') || /^[A-Z]/.test(context.name)
  );
}
