import { structuredPatch } from 'diff';
import type { ChangesPart, CommandPart, PicturePart } from '../contract/picture.js';
import { describeEffect } from '../effects/traits.js';
import { redact } from '../output/redact.js';
import { countChanges, describeChange, groupChanges } from '../terminal/describe-changes.js';
import { untoldIn } from '../terminal/draw-picture.js';
import { count, exact, html, Markup, shorten } from './markup.js';

/** How many lines of a diff are open; more are folded. */
const OPEN_LINES = 40;
const CONTEXT_LINES = 3;
/** Time limit for a diff: texts without a common line take very long. */
const DIFF_MS = 200;

/** Draws a part of a picture. @param room the maximum number of characters */
export function drawPart(part: PicturePart, room: number): Markup {
  switch (part.kind) {
    case 'diff':
      return drawDiff(part, room);
    case 'file': {
      const lines = linesOf(part.text);
      const body = [{ sign: '+', lines }];
      return drawLines(html`New file ${exact(part.path)}`, body, lines.length, room);
    }
    case 'unshown':
      return html`<p class="part">${exact(part.path)}: ${part.why}${sizesOf(part)}</p>`;
    case 'command':
      return drawCommand(part, room);
    case 'changes':
      return drawChanges(part);
    case 'url':
      return html`<p class="part">→ <code>${exact(shorten(part.url, room))}</code></p>`;
    case 'arguments':
      return html`<pre class="part">${exact(shorten(JSON.stringify(part.json, null, 2), room))}</pre>`;
    case 'problem':
      return html`<p class="part bad">It would fail: ${shorten(part.text, room)}</p>`;
  }
}

function sizesOf({ bytesBefore, bytesAfter }: PicturePart & { readonly kind: 'unshown' }): string {
  if (bytesBefore === undefined && bytesAfter === undefined) return '';
  const size = (bytes: number | undefined): string =>
    bytes === undefined ? 'not known' : count(bytes, 'byte');
  return ` (${size(bytesBefore)} → ${size(bytesAfter)})`;
}

function drawCommand({ text, shell, cwd, marks, touches, commands }: CommandPart, room: number): Markup {
  const told = [...new Set(touches.map(describeEffect))];
  const untold = untoldIn(commands);
  const warnings = marks.map(({ start, end, reason }) => {
    const marked =
      start === 0 && end === text.length
        ? ''
        : `${text.slice(start, end).replace(/\s+/g, ' ').slice(0, 80)}: `;
    return html`<li>${exact(marked)}${reason}</li>`;
  });
  return html`<div class="part"><pre class="command" data-shell="${shell}">${markCommand(text, marks, room)}</pre>${
    cwd === undefined ? undefined : html`<p class="dim">in ${exact(cwd)}</p>`
  }${warnings.length === 0 ? undefined : html`<ul class="warn">${warnings}</ul>`}${
    told.length === 0 ? undefined : html`<p class="dim">touches ${exact(shorten(told.join(', '), 2_000))}</p>`
  }${
    untold.length === 0
      ? undefined
      : html`<p class="dim">may touch more: ${exact(shorten(untold.join('; '), 2_000))}</p>`
  }</div>`;
}

/** Every path: everything that is committed is shown. */
function drawChanges(part: ChangesPart): Markup {
  const groups = groupChanges(part).map(({ sign, word, entries }) => {
    const rows = entries.map((entry) => html`<li>${exact(`${sign} ${describeChange(entry)}`)}</li>`);
    return html`<li><b>${word} (${entries.length})</b><ul>${rows}</ul></li>`;
  });
  const left = part.notKept.map(({ path, reason }) => html`<li>${exact(path)}: ${reason}</li>`);
  return html`<div class="part"><p>${countChanges(part)}</p><ul class="changes">${groups}${
    left.length === 0 ? undefined : html`<li><b>not kept (${left.length})</b><ul>${left}</ul></li>`
  }</ul></div>`;
}

/** The command with its marked parts highlighted; nothing is hidden. */
function markCommand(text: string, marks: CommandPart['marks'], room: number): Markup {
  const isWhole = text.length <= room && redact(text) === text;
  const places = marks.filter(({ start, end }) => start > 0 || end < text.length);
  if (!isWhole || places.length === 0) return exact(shorten(text, room));
  const pieces: Markup[] = [];
  let at = 0;
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(at, start);
    if (end <= from) continue;
    pieces.push(exact(text.slice(at, from)), html`<mark>${exact(text.slice(from, end))}</mark>`);
    at = end;
  }
  pieces.push(exact(text.slice(at)));
  return html`${pieces}`;
}

/** Consecutive lines with the same sign. */
interface Run {
  readonly sign: string;
  readonly lines: readonly string[];
}

function drawDiff(
  { path, from, before, after }: PicturePart & { readonly kind: 'diff' },
  room: number,
): Markup {
  const name = html`${from === undefined ? undefined : html`${exact(from)} → `}${exact(path)}`;
  if (after === undefined) {
    const lines = linesOf(before);
    return drawLines(html`Removed ${name}`, [{ sign: '-', lines }], lines.length, room);
  }
  // Redacted before it is split: a key of several lines is recognized only as a whole.
  const [was, is] = [redact(before), redact(after)];
  const patch = structuredPatch(path, path, was, is, '', '', { context: CONTEXT_LINES, timeout: DIFF_MS });
  if (patch === undefined) {
    const lines = linesOf(is);
    return drawLines(html`Nearly all of ${name}; now`, [{ sign: '+', lines }], lines.length, room);
  }
  if (patch.hunks.length === 0) return html`<p class="part">${name}: its visible content stays the same</p>`;
  const lines = patch.hunks.flatMap((hunk) => [`@line ${hunk.newStart}`, ...hunk.lines]);
  const changed = lines.filter((line) => line.startsWith('+') || line.startsWith('-'));
  const added = changed.filter((line) => line.startsWith('+')).length;
  const title = html`Changed ${name} <span class="dim">+${added} −${changed.length - added}</span>`;
  return drawLines(title, runsOf(lines), lines.length, room);
}

function runsOf(lines: readonly string[]): readonly Run[] {
  const runs: { sign: string; lines: string[] }[] = [];
  for (const line of lines) {
    const sign = line.charAt(0);
    const last = runs.at(-1);
    if (last?.sign === sign) last.lines.push(line.slice(1));
    else runs.push({ sign, lines: [line.slice(1)] });
  }
  return runs;
}

const CLASSES: Readonly<Record<string, string>> = { '+': 'add', '-': 'del', '@': 'at' };

/** One element per run of lines, so a large diff has few elements. */
function drawLines(title: Markup, runs: readonly Run[], total: number, room: number): Markup {
  let left = room;
  const drawn: Markup[] = [];
  for (const { sign, lines } of runs) {
    if (left <= 0) break;
    const shown = sign === '@' || sign === '\\' ? lines : lines.map((line) => `${sign} ${line}`);
    const text = shorten(shown.join('\n'), left);
    left -= text.length;
    drawn.push(html`<span class="${CLASSES[sign] ?? 'same'}">${text}</span>`);
  }
  if (left <= 0) drawn.push(html`<span class="at">… the rest is left out</span>`);
  const body = html`<pre class="diff">${drawn}</pre>`;
  const isOpen = total <= OPEN_LINES ? new Markup(' open') : undefined;
  return html`<details class="part"${isOpen}><summary>${title} <span class="dim">(${count(total, 'line')})</span></summary>${body}</details>`;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : redact(text).replace(/\n$/, '').split('\n');
}
