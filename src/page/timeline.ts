import { count, html, type Markup, moment } from './markup.js';
import type { PageBatch, PageCall } from './page-data.js';
import { isBad } from './totals.js';

/** A time span in milliseconds since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const WIDTH = 1_000;
/** Calls without duration stay visible. */
const LEAST_WIDTH = 6;

/** From the delivery of a batch to its last answer. */
export function spanOf({ at, calls }: Pick<PageBatch, 'at' | 'calls'>): Span {
  let to = at + 1;
  for (const { finishedAt, startedAt, asked, acceptedAt } of calls) {
    to = Math.max(to, finishedAt ?? startedAt ?? asked?.decision?.at ?? acceptedAt);
  }
  return { from: at, to };
}

/** A bar that shows when a call waited for the person, waited in the queue, and ran. */
export function drawBar(call: PageCall, span: Span): Markup {
  const { acceptedAt, asked, startedAt, finishedAt, repeats } = call;
  const decidedAt = asked === undefined ? acceptedAt : (asked.decision?.at ?? finishedAt ?? span.to);
  const parts = [
    drawPiece('w', acceptedAt, decidedAt, span),
    startedAt === undefined ? undefined : drawPiece('q', decidedAt, startedAt, span),
    startedAt === undefined
      ? undefined
      : drawPiece(isBad(call) ? 'f' : 'r', startedAt, finishedAt ?? span.to, span, true),
  ].filter((part) => part !== undefined);
  if (parts.length === 0 || repeats !== undefined) return html`<span class="bar"></span>`;
  return html`<svg class="bar" viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`;
}

function drawPiece(
  name: string,
  from: number,
  to: number,
  span: Span,
  isShownAlways = false,
): Markup | undefined {
  const scale = WIDTH / (span.to - span.from);
  const width = (to - from) * scale;
  if (width < 1 && !isShownAlways) return undefined;
  const shown = Math.min(WIDTH, Math.max(LEAST_WIDTH, width));
  const x = Math.max(0, Math.min(WIDTH - shown, (from - span.from) * scale));
  return html`<rect class="${name}" x="${Math.round(x)}" y="1" width="${Math.round(shown)}" height="8"/>`;
}

const BINS = 60;
const HEIGHT = 60;

/** The number of calls over time, and of failures. Undefined if there are too few. */
export function drawActivity(batches: readonly PageBatch[]): Markup | undefined {
  const calls = batches.flatMap((batch) => batch.calls);
  const from = calls.reduce((least, { acceptedAt }) => Math.min(least, acceptedAt), Number.POSITIVE_INFINITY);
  const to = calls.reduce((most, { acceptedAt }) => Math.max(most, acceptedAt), 0);
  if (batches.length < 3 || to - from < 1_000) return undefined;
  const bins = Array.from({ length: BINS }, () => ({ all: 0, bad: 0 }));
  for (const call of calls) {
    const bin = bins[Math.min(BINS - 1, Math.floor(((call.acceptedAt - from) / (to - from)) * BINS))];
    if (bin === undefined) continue;
    bin.all++;
    if (isBad(call)) bin.bad++;
  }
  const most = Math.max(...bins.map(({ all }) => all));
  const columns = bins.flatMap(({ all, bad }, index) => {
    const height = (part: number): number => Math.round((part / most) * HEIGHT * 10) / 10;
    const column = (name: string, part: number, below: number): readonly Markup[] =>
      part === 0
        ? []
        : [
            html`<rect class="${name}" x="${index * 10 + 1}" y="${HEIGHT - height(below + part)}" width="8" height="${Math.max(1, height(part))}"/>`,
          ];
    return [...column('f', bad, 0), ...column('r', all - bad, bad)];
  });
  return html`<figure class="activity"><svg viewBox="0 0 ${BINS * 10} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="calls over time">${columns}</svg><figcaption>${moment(from)}<span>at most ${count(most, 'call')} at a time</span>${moment(to)}</figcaption></figure>`;
}
