import type { PageBatch, PageCall, PageOutcome } from './page-data.js';

export interface ToolTotals {
  readonly toolName: string;
  readonly calls: number;
  readonly outcomes: Readonly<Record<PageOutcome, number>>;
  readonly ranMs: number;
  readonly medianMs: number;
}

export interface Totals {
  readonly batches: number;
  readonly calls: number;
  readonly outcomes: Readonly<Record<PageOutcome, number>>;
  /** The sum over all calls. */
  readonly ranMs: number;
  readonly asked: {
    readonly calls: number;
    readonly approved: number;
    readonly refused: number;
    readonly open: number;
    /** Decided by an option of a command, without a person. */
    readonly inAdvance: number;
    /** Over all decisions. Undefined if there were none. */
    readonly medianMs: number | undefined;
    /** How long calls waited for a decision; simultaneous ones of a batch count once. */
    readonly waitedMs: number;
  };
  /**
   * Calls with side effects that ran without a question because a rule allows them, and the time their
   * questions would have taken.
   */
  readonly spared: { readonly calls: number; readonly ms: number | undefined };
  /** Most used first. */
  readonly tools: readonly ToolTotals[];
}

/** A repeated delivery counts where the call was first delivered. */
export function totalsOf(batches: readonly PageBatch[]): Totals {
  const calls = batches.flatMap((batch) => batch.calls.filter(({ repeats }) => repeats === undefined));
  const byTool = new Map<string, PageCall[]>();
  for (const call of calls) {
    const own = byTool.get(call.toolName);
    if (own === undefined) byTool.set(call.toolName, [call]);
    else own.push(call);
  }
  const consents = calls.flatMap((call) => (call.asked === undefined ? [] : [{ call, asked: call.asked }]));
  const questions = consents.filter(({ asked }) => !asked.isInAdvance);
  const answered = questions.flatMap(({ call, asked: { decision } }) =>
    decision === undefined ? [] : [{ ms: decision.at - call.acceptedAt, approved: decision.approved }],
  );
  const medianMs = median(answered.map(({ ms }) => ms));
  const spared = calls.filter(({ isSparedByRule }) => isSparedByRule).length;
  return {
    batches: batches.length,
    calls: calls.length,
    outcomes: countOutcomes(calls),
    ranMs: sum(calls.map(({ ranMs }) => ranMs)),
    asked: {
      calls: questions.length,
      approved: answered.filter(({ approved }) => approved).length,
      refused: answered.filter(({ approved }) => !approved).length,
      open: questions.length - answered.length,
      inAdvance: consents.length - questions.length,
      medianMs,
      waitedMs: sum(batches.map(waitedIn)),
    },
    spared: { calls: spared, ms: medianMs === undefined ? undefined : medianMs * spared },
    tools: [...byTool]
      .map(([toolName, own]) => ({
        toolName,
        calls: own.length,
        outcomes: countOutcomes(own),
        ranMs: sum(own.map(({ ranMs }) => ranMs)),
        medianMs: median(own.map(({ ranMs }) => ranMs)) ?? 0,
      }))
      .sort((a, b) => b.calls - a.calls || (a.toolName < b.toolName ? -1 : 1)),
  };
}

/** All calls of a batch are asked about at once. */
function waitedIn({ calls }: PageBatch): number {
  return Math.max(
    0,
    ...calls.map(({ acceptedAt, asked }) =>
      asked?.isInAdvance === false ? (asked.decision?.at ?? acceptedAt) - acceptedAt : 0,
    ),
  );
}

function countOutcomes(calls: readonly PageCall[]): Record<PageOutcome, number> {
  const counts = {
    ok: 0,
    failed: 0,
    'ran, cancelled': 0,
    'not run': 0,
    unknown: 0,
    running: 0,
    queued: 0,
    waits: 0,
  };
  for (const { outcome } of calls) counts[outcome]++;
  return counts;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

const BAD: readonly PageOutcome[] = ['failed', 'ran, cancelled', 'unknown', 'not run'];

/** Calls that should be looked at first. */
export function isBad({ outcome }: PageCall): boolean {
  return BAD.includes(outcome);
}
