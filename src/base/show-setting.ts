const MAX_CHARACTERS = 60;
const MAX_ITEMS = 8;

/** A configuration value for a message: one line, short, safe for a terminal. */
export function showValue(value: unknown): string {
  const text = write(value, 0);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1)}…` : text;
}

/** A key in TOML syntax, quoted if necessary. */
export function showKey(path: readonly (string | number)[]): string {
  const text = path.slice(0, MAX_ITEMS).reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    const name = /^[A-Za-z0-9_-]+$/.test(step) ? step : quote(step);
    return before === '' ? name : `${before}.${name}`;
  }, '');
  return text.length > 2 * MAX_CHARACTERS ? `${text.slice(0, 2 * MAX_CHARACTERS - 1)}…` : text;
}

/** A file path for a message, quoted if it could control a terminal. */
export function showPath(path: string): string {
  return /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) ? quote(path).slice(1, -1) : path;
}

function write(value: unknown, depth: number): string {
  if (typeof value === 'string') return quote(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'number') return writeNumber(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (!Array.isArray(value)) return '{…}';
  if (depth > 0) return '[…]';
  const items = value.slice(0, MAX_ITEMS).map((item) => write(item, depth + 1));
  return `[${[...items, ...(value.length > MAX_ITEMS ? ['…'] : [])].join(', ')}]`;
}

/** In TOML notation. */
function writeNumber(value: number): string {
  return Number.isNaN(value) ? 'nan' : String(value).replace('Infinity', 'inf');
}

function quote(text: string): string {
  const short = text.length > 2 * MAX_CHARACTERS ? text.slice(0, 2 * MAX_CHARACTERS) : text;
  return JSON.stringify(short).replace(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
