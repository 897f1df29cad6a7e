import { hash } from 'node:crypto';
import { anchorOf, drawCall, drawDetail, drawSign, MOST_NAME, traitsOf } from './draw-call.js';
import { count, duration, exact, html, Markup, moment, shorten } from './markup.js';
import type { LoadDetails, Page, PageBatch, PageCall } from './page-data.js';
import { PAGE_STYLE } from './page-style.js';
import { drawActivity, spanOf } from './timeline.js';
import { isBad, type Totals, totalsOf } from './totals.js';

/** How many calls have details on a page: failed ones first, then those with questions, then changes. */
const MOST_DETAILED = 1_000;
/** The approximate number of characters of all details. */
const MOST_DETAIL = 4_000_000;
const MOST_OF_ONE = 60_000;
const MOST_PROBLEMS = 200;

/**
 * Draws a journal as one HTML page: no script, no network access, every text of a call shown as text. The
 * size is limited for any number of calls: a call is a line, and details beyond a limit are left out, which
 * the page says.
 */
export async function drawPage(page: Page, load: LoadDetails): Promise<string> {
  const totals = totalsOf(page.batches);
  const detailed = chooseDetailed(page.batches);
  const room = Math.min(MOST_OF_ONE, Math.floor(MOST_DETAIL / Math.max(1, detailed.count)));
  const batches: Markup[] = [];
  for (const [number, batch] of page.batches.entries()) {
    batches.push(await drawBatch(batch, { number, places: detailed.places[number] ?? [], room, load }));
  }
  const body = html`<header><p>toolexec journal</p><h1>${exact(page.title)}</h1><p>${page.about}</p></header>
<main>
${drawTiles(totals)}
${drawProblems('Went wrong', '', page.batches, isBad)}
${drawProblems('Waits for a decision', 'wait', page.batches, ({ outcome }) => outcome === 'waits')}
${drawActivity(page.batches)}
${totals.tools.length > 1 ? drawTools(totals) : undefined}
${drawLegend(totals)}
${batches}
</main>
<footer>${drawFooter(page, totals, detailed.count)}</footer>`;
  return documentOf(page.title, body);
}

function documentOf(title: string, body: Markup): string {
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', PAGE_STYLE, 'base64')}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title} · toolexec</title>
<style>${new Markup(PAGE_STYLE)}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}

interface Detailed {
  /** The indices of the chosen calls, for each batch in order. */
  readonly places: readonly (readonly number[])[];
  readonly count: number;
}

function chooseDetailed(batches: readonly PageBatch[]): Detailed {
  const chosen = batches.map((): number[] => []);
  let left = MOST_DETAILED;
  const rankOf = (call: PageCall): number => {
    if (isBad(call) || call.outcome === 'waits') return 0;
    if (call.asked !== undefined) return 1;
    return call.hasSideEffects ? 2 : 3;
  };
  for (let rank = 0; rank <= 3 && left > 0; rank++) {
    for (const [number, { calls }] of batches.entries()) {
      for (const call of calls) {
        if (rankOf(call) !== rank || left === 0) continue;
        chosen[number]?.push(call.place);
        left--;
      }
    }
  }
  return { places: chosen.map((places) => places.sort((a, b) => a - b)), count: MOST_DETAILED - left };
}

interface BatchDrawing {
  readonly number: number;
  readonly places: readonly number[];
  readonly room: number;
  readonly load: LoadDetails;
}

async function drawBatch(batch: PageBatch, { number, places, room, load }: BatchDrawing): Promise<Markup> {
  const details = places.length === 0 ? [] : await load(batch, places);
  const byPlace = new Map(places.map((place, index) => [place, details[index]]));
  const span = spanOf(batch);
  const calls = batch.calls.map((call) => {
    const detail = byPlace.get(call.place);
    const folded = detail === undefined ? undefined : drawDetail(call, detail, batch, room);
    return drawCall(call, { id: anchorOf(number, call), span }, folded);
  });
  const traits = [...new Set(batch.calls.flatMap(traitsOf))];
  const said =
    batch.said === undefined || batch.said.trim() === ''
      ? undefined
      : html`<p>“${shorten(batch.said, 600)}”</p>`;
  const model = batch.model === undefined ? undefined : html` · ${exact(batch.model)}`;
  const decisions = batch.decisions.map(({ kind, at, data }) => {
    const by = typeof data.by === 'string' ? ` by ${shorten(data.by, MOST_NAME)}` : '';
    const why = typeof data.why === 'string' ? ` (${shorten(data.why, MOST_NAME)})` : '';
    return html`<p>${DECISIONS[kind] ?? kind}${by}${why} ${moment(at)}</p>`;
  });
  return html`<section class="${['batch', ...traits].join(' ')}"><div class="head"><h3>${moment(batch.at)}</h3><p class="dim">batch <code>${exact(batch.id)}</code> · conversation ${exact(shorten(batch.conversation, 200))}${model} · ${count(batch.calls.length, 'call')}</p>${said}${decisions}</div><ul class="calls">
${calls}</ul></section>
`;
}

const DECISIONS: Readonly<Record<string, string>> = {
  wait: 'Put off',
  resume: 'Continued with',
  discard: 'Given up',
};

function drawTiles({ calls, outcomes, ranMs, asked, spared }: Totals): Markup {
  const tile = (name: string, value: string, more = '', kind = ''): Markup =>
    html`<div class="${kind}"><dt>${name}</dt><dd>${value}${more === '' ? undefined : html`<small>${more}</small>`}</dd></div>`;
  const wrong = outcomes.failed + outcomes.unknown;
  const cancelled = outcomes['ran, cancelled'];
  const open = outcomes.running + outcomes.queued;
  const answered = [
    ...(asked.calls === 0
      ? []
      : [
          `${asked.approved} agreed, ${asked.refused} refused${asked.open === 0 ? '' : `, ${asked.open} open`}`,
        ]),
    ...(asked.inAdvance === 0 ? [] : [`${asked.inAdvance} decided in advance`]),
    ...(asked.waitedMs < 1 ? [] : [`${duration(asked.waitedMs)} waited`]),
  ];
  const saved =
    spared.ms === undefined ? 'no question to compare with' : `about ${duration(spared.ms)} saved`;
  return html`<dl class="tiles">${[
    tile('Calls', String(calls), `${outcomes.ok} succeeded`),
    tile(
      'Failed',
      String(wrong),
      outcomes.unknown === 0 ? '' : `${outcomes.unknown} with an unknown outcome`,
      wrong === 0 ? '' : 'bad',
    ),
    ...(cancelled === 0 ? [] : [tile('Ran, cancelled', String(cancelled))]),
    tile('Not run', String(outcomes['not run'])),
    ...(outcomes.waits === 0 ? [] : [tile('Wait for you', String(outcomes.waits), '', 'wait')]),
    ...(open === 0 ? [] : [tile('Under way', String(open))]),
    tile('Ran', duration(ranMs), 'all calls together'),
    tile('Asked', String(asked.calls), answered.join(' · ')),
    tile('Not asked, by rules', String(spared.calls), spared.calls === 0 ? '' : saved),
  ]}</dl>`;
}

function drawProblems(
  title: string,
  kind: string,
  batches: readonly PageBatch[],
  isMeant: (call: PageCall) => boolean,
): Markup | undefined {
  const found = batches.flatMap(({ calls }, number) =>
    calls.filter(isMeant).map((call) => ({ call, number })),
  );
  if (found.length === 0) return undefined;
  // A call that ran and failed may have left effects; a call that did not run has none.
  found.sort((a, b) => Number(a.call.outcome === 'not run') - Number(b.call.outcome === 'not run'));
  const items = found.slice(0, MOST_PROBLEMS).map(({ call, number }) => {
    const { outcome, toolName, title: words, error } = call;
    const rest = words.startsWith(`${toolName} · `) ? words.slice(toolName.length + 3) : '';
    const why =
      error === undefined || outcome === 'waits'
        ? undefined
        : html`<p>${error.code}: ${shorten(error.message, 300)}</p>`;
    return html`<li><a href="#${anchorOf(number, call)}">${drawSign(outcome)}<span class="what"><b>${exact(shorten(toolName, MOST_NAME))}</b> <bdi>${exact(shorten(rest, 300))}</bdi></span>${why}</a></li>\n`;
  });
  const more =
    found.length > items.length
      ? html`<p class="dim">and ${count(found.length - items.length, 'more call')}, below</p>`
      : undefined;
  return html`<section class="problems ${kind}"><h2>${title} <span class="dim">(${found.length})</span></h2><ol class="list">
${items}</ol>${more}</section>`;
}

const MOST_TOOLS = 50;

function drawTools({ tools }: Totals): Markup {
  const rows = tools
    .slice(0, MOST_TOOLS)
    .map(
      ({ toolName, calls, outcomes, ranMs, medianMs }) =>
        html`<tr><td>${exact(shorten(toolName, MOST_NAME))}</td><td>${calls}</td><td>${outcomes.ok}</td><td>${outcomes.failed + outcomes.unknown}</td><td>${outcomes['ran, cancelled']}</td><td>${outcomes['not run']}</td><td>${duration(medianMs)}</td><td>${duration(ranMs)}</td></tr>\n`,
    );
  return html`<section><h2>Tools</h2><div class="list scroll" tabindex="0" role="region" aria-label="calls by tool"><table><thead><tr><th scope="col">tool</th><th scope="col">calls</th><th scope="col">succeeded</th><th scope="col">failed</th><th scope="col">ran, cancelled</th><th scope="col">not run</th><th scope="col">median</th><th scope="col">ran</th></tr></thead><tbody>
${rows}</tbody></table></div></section>`;
}

function drawLegend({ outcomes, asked, calls }: Totals): Markup {
  const key = (name: string, words: string): Markup =>
    html`<span><svg viewBox="0 0 14 8" aria-hidden="true"><rect class="${name}" width="14" height="8"/></svg>${words}</span>`;
  const choice = (id: string, words: string, isFirst = false): Markup =>
    html`<input class="choice" type="radio" name="show" id="${id}"${isFirst ? new Markup(' checked') : undefined}><label for="${id}">${words}</label>`;
  const wrong = outcomes.failed + outcomes.unknown + outcomes['ran, cancelled'] + outcomes['not run'];
  return html`<h2>Calls</h2><div class="choices" role="radiogroup" aria-label="which calls are shown">${[
    choice('all', `All ${calls}`, true),
    choice('bad', `Went wrong ${wrong}`),
    choice('asked', `Asked ${asked.calls}`),
    choice('change', 'With side effects'),
  ]}</div><p class="legend">${[
    key('w', 'waited for a decision'),
    key('q', 'waited for its turn'),
    key('r', 'ran'),
    key('f', 'ran and failed'),
  ]}</p>`;
}

function drawFooter({ madeAt }: Page, { calls }: Totals, detailed: number): Markup {
  const left = calls - detailed;
  const leftOut =
    left <= 0
      ? undefined
      : html`<p>Details of ${count(left, 'call')} are left out; <code>toolexec journal show ID</code> shows them.</p>`;
  return html`${leftOut}<p>Made by toolexec, ${moment(madeAt)}. Times are in UTC. What looks like a secret is replaced by [REDACTED]; what cannot be seen is shown by its number (‹U+200B›). This page loads nothing and runs no script.</p>`;
}
