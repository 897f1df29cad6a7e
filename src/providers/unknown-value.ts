/** Names an unexpected value: `an array`, `the string "ls"`. */

export function describeValue(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return `the string ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'boolean') return `the ${typeof value} ${value}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** In double quotes, on one line, at most 40 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** An object with unknown keys. */
export type Fields = { readonly [key: string]: unknown };

/** Whether the value is an object with keys. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the value has what every writer of results reads. */
export function isResult(value: unknown): boolean {
  if (!isRecord(value) || typeof value.callId !== 'string' || typeof value.output !== 'string') return false;
  return value.success === true || (isRecord(value.error) && typeof value.error.message === 'string');
}

export const isResultList = (value: unknown): boolean => Array.isArray(value) && value.every(isResult);

/** A name; undefined for anything but a text. */
export function toName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The objects in a list, or in a value that may not be a list. */
export function toRecords(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The texts of a message's content, which may be one text or a list of blocks. */
export function textsOf(content: unknown, type: string): string {
  if (typeof content === 'string') return content;
  const blocks = toRecords(content).filter((block) => block.type === type);
  return blocks.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
}
