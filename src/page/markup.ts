import { redact } from '../output/redact.js';
import { toVisible } from '../terminal/visible-text.js';

/** Safe HTML. Only `html` and `exact` create it. */
export class Markup {
  constructor(readonly text: string) {}
}

export type Interpolated = string | number | Markup | readonly Markup[] | undefined;

/** Creates HTML from a template. Every text in it is escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly Interpolated[]): Markup {
  let out = strings[0] ?? '';
  for (const [index, value] of values.entries()) out += `${toHtml(value)}${strings[index + 1] ?? ''}`;
  return new Markup(out);
}

/** For text that programs read (a command, a name, an address): lookalike characters are spelled out too. */
export function exact(text: string): Markup {
  return new Markup(escapeHtml(toVisible(redact(text), { lookalikes: true })));
}

function toHtml(value: Interpolated): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return escapeHtml(toVisible(redact(value.replaceAll('\t', '    '))));
  return value instanceof Markup ? value.text : value.map(({ text }) => text).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Keeps the start and end of a long text and counts the middle. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.floor((most * 2) / 3);
  const tail = most - head;
  const left = (text.length - most).toLocaleString('en-US');
  // Never half a pair, which would be shown as a number.
  const start = text.slice(0, head).replace(/[\ud800-\udbff]$/, '');
  const end = text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, '');
  return `${start}\n… ${left} characters are left out here …\n${end}`;
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

export function moment(at: number): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${`${iso.slice(0, 10)} ${iso.slice(11, 19)}`} UTC</time>`;
}

/** `1 call`, `2 calls` */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}
