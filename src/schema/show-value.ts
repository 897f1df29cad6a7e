import { types } from 'node:util';

const MAX_SHOWN_CHARACTERS = 60;

const LONE_SURROGATES = /[\ud800-\udfff]/gu;

/** A value as JSON for messages: one line, escaped and cut. */
export function showValue(value: unknown, maxCharacters: number = MAX_SHOWN_CHARACTERS): string {
  const text = escapeUnseen(renderJson(value, maxCharacters));
  if (text.length <= maxCharacters) return text;
  const end = typeof value === 'string' ? '…"' : '…';
  return `${cutBetweenCharacters(text, maxCharacters - end.length)}${end}`;
}

/** Free text (a name, a pointer, a foreign message) on one line, escaped and cut. */
export function showText(text: string, maxCharacters: number): string {
  const escaped = escapeUnseen(text.slice(0, maxCharacters + 1).replace(LONE_SURROGATES, '\ufffd'));
  if (escaped.length <= maxCharacters) return escaped;
  return `${cutBetweenCharacters(escaped, maxCharacters - 1)}…`;
}

const KINDS: readonly (readonly [is: (value: unknown) => boolean, name: string])[] = [
  [types.isDate, 'a Date'],
  [types.isMap, 'a Map'],
  [types.isSet, 'a Set'],
  [types.isRegExp, 'a RegExp'],
  [types.isPromise, 'a Promise'],
  [types.isNativeError, 'an Error'],
  [types.isArrayBufferView, 'a typed array'],
];

/** The kind of a value with its article. Runs no code of the value. */
export function nameKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  if (typeof value !== 'object') return `a ${typeof value}`;
  return KINDS.find(([is]) => is(value))?.[1] ?? 'an object';
}

/** About `room` characters of the JSON. Parts that would be cut off are not rendered. */
function renderJson(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room + 1));
  if (Array.isArray(value)) return `[${renderEach(value, room, (item, left) => renderJson(item, left))}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value);
  return `{${renderEach(entries, room, ([key, item], left) => `${renderJson(key, left)}:${renderJson(item, left)}`)}}`;
}

function renderEach<T>(items: readonly T[], room: number, render: (item: T, left: number) => string): string {
  let text = '';
  for (const item of items) {
    if (text.length > room) break;
    text += `${text === '' ? '' : ','}${render(item, room - text.length)}`;
  }
  return text;
}

function escapeUnseen(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  // Controls, invisible format characters (including direction overrides), and line separators.
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.split('').map(escapeUnit).join(''),
  );
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Never cuts a surrogate pair or an escape. */
function cutBetweenCharacters(text: string, length: number): string {
  return text.slice(0, length).replace(/(?:[\ud800-\udbff]|(?<!\\)(?:\\\\)*\\(?:u[0-9a-f]{0,3})?)$/, '');
}
