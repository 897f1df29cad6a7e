/** What people write where a secret belongs, whole values in lower case. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'null none nil undefined true false yes no on off empty unset default required optional missing invalid incorrect ' +
    'hidden masked redacted removed omitted example sample dummy placeholder changeme change-me change_me replaceme ' +
    'replace-me todo tbd string str text bool boolean number integer int float any unknown object array bytes char ' +
    'varchar void never optional[str] secretstr password passwd passphrase secret token key apikey api_key api-key ' +
    'username user value variable argument parameter option environment prompt interactively instead bearer basic ' +
    'include same-origin omit authentication authorization credentials protected forgotten expired wrong correct'
  ).split(' '),
);

const SYNTAX: readonly RegExp[] = [
  /^[$<{[]/, // $VAR, ${VAR}, $(command), <your-key>, {{ key }}, [redacted]
  /^%[A-Za-z_][A-Za-z0-9_]{0,64}%$/, // %VAR%
  /^%[-+0-9.]{0,8}[sdvqr]$/, // %s
  /^[*•.x_-]+$/i, // ********, ..., xxxx
  /^#\{/, // #{var}
  /^@[A-Za-z]/, // @file, @Value
  /^(?:process\.env|os\.environ|os\.getenv|import\.meta\.env|env|secrets|vars|config|settings|self|this|data|local|var|module)\b[.[]/i,
];

/** YOUR_API_KEY, your-token-here, my_secret, <...>, insert_key_here, ENTER_PASSWORD. */
const SPOKEN =
  /^(?:(?:your|my|the|some|a|an|new|old|insert|enter|replace|put|use|add|paste|example|sample|dummy|fake|test|super)[-_ ]?)+(?:[a-z]{0,16}[-_ ]?){0,3}(?:secret|password|passwd|pass|token|key|credentials?|value|here|this|me)(?:[-_ ]?(?:here|value|goes|id))*$/;

/** Judged by their first characters: whatever is longer than this is no placeholder. */
const LONGEST_PLACEHOLDER = 64;

/** True for what stands where a secret would, and is none. */
export function isPlaceholder(value: string): boolean {
  if (SYNTAX.some((pattern) => pattern.test(value))) return true;
  if (value.length > LONGEST_PLACEHOLDER) return false;
  const lower = value.toLowerCase().replace(/[.,;:!?]+$/, '');
  return WORDS.has(lower) || SPOKEN.test(lower);
}

/** True for what nobody would write as a word: at least 8 characters, letters and digits mixed, or letters in disorder. */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || isPlaceholder(value)) return false;
  const beginning = value.slice(0, 256);
  if (/^v?\d+(?:\.\d+)+/.test(beginning) || /^\d{4}-\d\d-\d\d/.test(beginning)) return false;
  if (/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(beginning)) return false;
  if (/\d/.test(beginning) && /[A-Za-z]/.test(beginning)) return true;
  const capitals = beginning.match(/[A-Z]/g)?.length ?? 0;
  const smalls = beginning.match(/[a-z]/g)?.length ?? 0;
  return value.length >= 20 && capitals >= 5 && smalls >= 5 && !/[_.-]/.test(beginning);
}
