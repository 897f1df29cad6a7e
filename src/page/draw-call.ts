import type { JsonObject } from '../contract/json.js';
import { describeEffect } from '../effects/traits.js';
import { describeContainment } from '../terminal/describe-containment.js';
import { drawPart } from './draw-part.js';
import { count, duration, exact, html, type Markup, moment, shorten } from './markup.js';
import type { PageBatch, PageCall, PageDetail, PageOutcome } from './page-data.js';
import { drawBar, type Span } from './timeline.js';
import { isBad } from './totals.js';

export const SIGNS: Readonly<Record<PageOutcome, string>> = {
  ok: '✓',
  failed: '✗',
  'ran, cancelled': '✗',
  'not run': '⊘',
  unknown: '?',
  running: '…',
  queued: '…',
  waits: '◷',
};

/** Names and ids come from models. */
export const MOST_NAME = 200;

/** The anchor of a call on the page. */
export function anchorOf(batchNumber: number, { place }: PageCall): string {
  return `b${batchNumber}c${place}`;
}

/** The CSS classes that select calls and batches. */
export function traitsOf(call: PageCall): readonly string[] {
  return [
    ...(isBad(call) ? ['bad'] : []),
    ...(call.asked?.isInAdvance === false ? ['asked'] : []),
    ...(call.hasSideEffects ? ['change'] : []),
  ];
}

/** Draws a call as a line, with its details folded below. */
export function drawCall(
  call: PageCall,
  { id, span }: { readonly id: string; readonly span: Span },
  folded?: Markup,
): Markup {
  const line = html`${drawSign(call.outcome)}<span class="what">${drawTitle(call)}</span>${drawBar(call, span)}<span class="ms">${tookOf(call)}</span>`;
  const classes = ['call', ...traitsOf(call)].join(' ');
  if (folded === undefined)
    return html`<li class="${classes}" id="${id}"><div class="row">${line}</div></li>\n`;
  // A link to an element inside opens it.
  return html`<li class="${classes}"><details><summary class="row">${line}</summary><div class="detail" id="${id}">${folded}</div></details></li>\n`;
}

export function drawSign(outcome: PageOutcome): Markup {
  return html`<span class="sign ${outcome.replace(' ', '-')}" role="img" aria-label="${outcome}" title="${outcome}">${SIGNS[outcome]}</span>`;
}

function drawTitle({ title, toolName, outcome, error, repeats }: PageCall): Markup {
  const rest = title.startsWith(`${toolName} · `)
    ? title.slice(toolName.length + 3)
    : title === toolName
      ? ''
      : title;
  const why =
    outcome === 'ok' || error === undefined ? undefined : html` <span class="why">${error.code}</span>`;
  const again = repeats === undefined ? undefined : html` <span class="dim">delivered again</span>`;
  return html`<b>${exact(shorten(toolName, MOST_NAME))}</b> <bdi>${exact(shorten(rest, 500))}</bdi>${why}${again}`;
}

function tookOf({ outcome, ranMs, startedAt }: PageCall): string {
  if (outcome === 'not run' || outcome === 'waits' || (outcome === 'queued' && startedAt === undefined))
    return '—';
  return duration(ranMs);
}

/** @param room the approximate number of characters for all texts of the details */
export function drawDetail(call: PageCall, detail: PageDetail, batch: PageBatch, room: number): Markup {
  const { picture } = detail;
  const each = Math.floor(room / (picture.parts.length + 2));
  const isShown = picture.parts.some(({ kind }) => kind === 'arguments');
  return html`${drawDecision(call, detail)}${drawError(call, detail)}${picture.parts.map((part) => drawPart(part, each))}${drawChanges(
    detail,
    each,
  )}${isShown ? undefined : drawArguments(detail, each)}${drawOutput(call, detail, each)}${drawEffects(detail)}${drawFacts(call, detail, batch)}`;
}

function drawDecision(
  { asked, outcome, acceptedAt, isSparedByRule }: PageCall,
  { picture, isEdited, disposition }: PageDetail,
): Markup {
  const why = picture.reason;
  if (asked === undefined) {
    const said =
      disposition === 'pre_resolved'
        ? 'Answered without a question'
        : outcome === 'not run'
          ? 'Not asked about'
          : 'Ran unasked';
    return html`<p class="decision${isSparedByRule ? ' spared' : ''}"><b>${said}.</b> ${why}</p>`;
  }
  const { decision } = asked;
  if (decision === undefined) {
    return html`<p class="decision"><b>Asked${outcome === 'waits' ? ', and waits for a decision' : ', and not answered'}.</b> ${why}</p>`;
  }
  if (asked.isInAdvance) {
    const consent = decision.approved ? 'Agreed to' : 'Refused';
    return html`<p class="decision"><b>${consent} in advance (${decision.by}).</b> ${why}</p>`;
  }
  const by = decision.by === undefined ? '' : ` by ${shorten(decision.by, MOST_NAME)}`;
  const after = `${decision.approved ? 'agreed' : 'refused'}${by} after ${duration(decision.at - acceptedAt)}`;
  const edited = isEdited ? ', with other arguments' : '';
  const reason = decision.reason === undefined ? undefined : html` “${shorten(decision.reason, 500)}”`;
  return html`<p class="decision"><b>Asked: ${after}${edited}.</b>${reason} ${why}</p>`;
}

function drawError({ error, outcome }: PageCall, { hint }: PageDetail): Markup | undefined {
  if (error === undefined || outcome === 'waits') return undefined;
  return html`<p class="error"><code>${error.code}</code> ${shorten(error.message, 2_000)}${
    hint === undefined ? undefined : html`<br><span class="dim">${shorten(hint, 500)}</span>`
  }</p>`;
}

/** All paths in the result, while there is room; the rest is counted. */
function drawChanges({ changes, moreChanges = 0 }: PageDetail, room: number): Markup | undefined {
  if (changes.length === 0) return undefined;
  let left = Math.max(room, LEAST_ROOM);
  const rows = changes.map(({ kind, paths }) => {
    const shown: string[] = [];
    for (const path of paths) {
      if (left <= 0) break;
      shown.push(shorten(path, left));
      left -= path.length;
    }
    const more = paths.length > shown.length ? `, and ${paths.length - shown.length} more` : '';
    return html`<li><b>${kind}</b> (${paths.length}) ${exact(shown.join(', '))}${more}</li>`;
  });
  const unlisted =
    moreChanges === 0
      ? undefined
      : html`<li>and ${count(moreChanges, 'path')} more, which the result does not list</li>`;
  return html`<ul class="changes">${rows}${unlisted}</ul>`;
}

const LEAST_ROOM = 4_000;

function drawArguments({ args }: PageDetail, room: number): Markup | undefined {
  if (Object.keys(args).length === 0) return undefined;
  return html`<details class="part"><summary>Arguments</summary><pre>${exact(shorten(indented(args), room))}</pre></details>`;
}

function indented(args: JsonObject): string {
  return JSON.stringify(args, null, 2);
}

function drawOutput(
  { outcome }: PageCall,
  { output, truncated, outputRef }: PageDetail,
  room: number,
): Markup | undefined {
  if (output === '') return undefined;
  const cut = truncated ? `, cut${outputRef === undefined ? '' : `; all of it: ${outputRef}`}` : '';
  const open = outcome === 'failed' && output.length <= 2_000 ? html` open` : undefined;
  const size = `${count(output.replace(/\n$/, '').split('\n').length, 'line')}, ${count(output.length, 'character')}${cut}`;
  return html`<details class="part output"${open}><summary>Output <span class="dim">(${size})</span></summary><pre>${shorten(output, room)}</pre></details>`;
}

function drawEffects({ effects, picture }: PageDetail): Markup {
  const chips = effects
    .slice(0, 40)
    .map((effect) => html`<li>${exact(shorten(describeEffect(effect), 200))}</li>`);
  const more = effects.length > 40 ? html`<li>and ${effects.length - 40} more</li>` : undefined;
  const around = describeContainment(picture).map((words) => html`<li>${words}</li>`);
  return html`<ul class="effects"><li class="risk ${picture.risk}">${picture.risk} risk</li>${around}${chips}${more}</ul>`;
}

function drawFacts(
  { callId, acceptedAt, startedAt, finishedAt, repeats }: PageCall,
  { undoneBy, origin }: PageDetail,
  { at }: PageBatch,
): Markup {
  const facts: Markup[] = [html`<div><dt>call</dt><dd>${exact(shorten(callId, MOST_NAME))}</dd></div>`];
  const add = (name: string, value: Markup): void =>
    void facts.push(html`<div><dt>${name}</dt><dd>${value}</dd></div>`);
  if (acceptedAt !== at) add('delivered', moment(acceptedAt));
  if (startedAt !== undefined) add('began', moment(startedAt));
  if (finishedAt !== undefined) add('ended', moment(finishedAt));
  if (origin.length > 0) add('its text comes from', exact(shorten(origin.join(', '), MOST_NAME)));
  if (undoneBy !== undefined) add('undone by', exact(shorten(undoneBy, MOST_NAME)));
  if (repeats !== undefined) add('first delivered with', exact(repeats));
  return html`<dl class="facts">${facts}</dl>`;
}
