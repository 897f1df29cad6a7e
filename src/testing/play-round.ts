import { join } from 'node:path';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { CallRecord, Journal } from '../contract/journal.js';
import type { RecoveredBatch } from '../contract/open-batch.js';
import type { Tool } from '../contract/tool.js';
import { createExecutor } from '../executor/create-executor.js';
import { openJournal } from '../journal/open-journal.js';
import { type Verification, verifyJournal } from '../journal/verify-journal.js';
import { makeScratchDirectory, type ScratchDirectory } from '../platform/fs/scratch.js';
import { startTrialProcess, type TrialProcess } from '../platform/process/trial-process.js';
import type { CrashTrial } from './crash-trial.js';
import type { Acknowledged, RoundNews, RoundOrder } from './watched-journal.js';

/** The common settings of all rounds. */
export interface TrialSetting {
  readonly trial: CrashTrial;
  readonly calls: readonly ToolCall[];
  readonly toolsUrl: string;
  readonly tools: readonly Tool[];
  /** A control: removes the journal's fences, so that there is a problem to find. */
  readonly unfenced: boolean;
}

/** How many times each effect has happened, by call id. */
export type Observed = Readonly<Record<string, number>>;

/** The findings after one kill. */
export interface RoundFindings extends RunEnd, Settlement {
  readonly acknowledged: readonly Acknowledged[];
}

interface RunEnd {
  readonly killed: boolean;
  /** Data about a process that ran to its end. */
  readonly calm: Extract<RoundNews, { kind: 'ended' }> | undefined;
  /** Set if the process failed by itself. */
  readonly broken: string | undefined;
}

interface Settlement {
  /** The journal's records of the batch before recovery. */
  readonly left: readonly CallRecord[];
  readonly recovered: readonly RecoveredBatch[];
  /** The result of a second recovery, which must be empty. */
  readonly recoveredAgain: readonly RecoveredBatch[];
  /** The number of effects after recovery, and after another delivery. */
  readonly observed: Observed;
  readonly observedLater: Observed;
  /** The journal's calls after recovery. */
  readonly settled: readonly CallRecord[];
  /** The answers to another delivery of the batch. */
  readonly delivered: readonly ToolResult[];
  readonly verification: Verification;
}

/** Runs the batch in a process, kills it at the point, and recovers. */
export async function playRound(setting: TrialSetting, point: KillPoint | undefined): Promise<RoundFindings> {
  const place = makeScratchDirectory('toolexec-crash-');
  try {
    const root = place.directory('root');
    await setting.trial.prepare?.(root);
    const order = toOrder(setting, place, root, point);
    const run = await runUntilKilled(order, point);
    const acknowledged = readAcknowledged(place);
    return { ...run, acknowledged, ...(await recoverAfter(setting, order)) };
  } finally {
    place.remove();
  }
}

function toOrder(
  { trial, calls, toolsUrl, unfenced }: TrialSetting,
  place: ScratchDirectory,
  root: string,
  point: KillPoint | undefined,
): RoundOrder {
  return {
    tools: toolsUrl,
    calls,
    root,
    journal: join(place.path, 'journal.db'),
    conversation: 'crash-trial',
    parallel: trial.parallel ?? false,
    log: join(place.path, LOG),
    unfenced,
    ...(point?.kind === 'step' ? { die: { step: point.step, when: point.when } } : {}),
  };
}

const LOG = 'acknowledged.jsonl';
/** After this time a process counts as hung and is killed. */
const PATIENCE_MS = 60_000;

async function runUntilKilled(order: RoundOrder, point: KillPoint | undefined): Promise<RunEnd> {
  const program = new URL('./crash-program.js', import.meta.url);
  const trialled = startTrialProcess({ program, order, patienceMs: PATIENCE_MS, under: underWhat(point) });
  const calm = await follow(trialled, point);
  const { code, signal, hung, stderr } = await trialled.ended;
  if (hung) return { killed: false, calm: undefined, broken: `it hung for ${PATIENCE_MS} ms` };
  if (signal === 'SIGKILL') return { killed: true, calm: undefined, broken: undefined };
  if (calm !== undefined && code === 0) return { killed: false, calm, broken: undefined };
  const how = signal ?? `code ${String(code)}`;
  return { killed: false, calm: undefined, broken: `it ended with ${how}: ${stderr.trim()}` };
}

function underWhat(point: KillPoint | undefined): readonly string[] {
  if (point?.kind !== 'system_call') return [];
  const { name, nth } = point;
  const strike = `inject=${name}:signal=SIGKILL:when=${nth}`;
  return ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${name}`, '-e', strike];
}

async function follow(trialled: TrialProcess, point: KillPoint | undefined): Promise<RunEnd['calm']> {
  let calm: RunEnd['calm'];
  for await (const line of trialled.lines) {
    const news = toNews(line);
    if (news?.kind === 'ended') calm = news;
    if (news?.kind === 'begins' && point?.kind === 'instant') trialled.killAfter(point.afterMs);
  }
  return calm;
}

// A tool may write to standard output too.
function toNews(line: string): RoundNews | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'kind' in value ? (value as RoundNews) : undefined;
  } catch {
    return undefined;
  }
}

function readAcknowledged(place: ScratchDirectory): Acknowledged[] {
  const lines = place.readText(LOG).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Acknowledged);
}

async function recoverAfter(
  { trial, tools, calls, unfenced }: TrialSetting,
  { root, journal: path, conversation, parallel }: RoundOrder,
): Promise<Settlement> {
  const journal = openJournal(path);
  const executor = createExecutor({
    tools,
    root,
    journal,
    policy: null,
    approver: null,
    limits: { maxToolCallsPerBatch: calls.length },
  });
  const observe = async (): Promise<Observed> => (await trial.observe?.(root)) ?? {};
  try {
    const left = await readCalls(journal);
    const recovered = await executor.recover();
    const recoveredAgain = await executor.recover();
    const settled = await readCalls(journal);
    const observed = await observe();
    const delivered = await executor.run(calls, unfenced ? { parallel } : { conversation, parallel });
    const observedLater = await observe();
    await journal.sync();
    const verification = verifyJournal(path);
    return { left, recovered, recoveredAgain, settled, observed, delivered, observedLater, verification };
  } finally {
    await executor.close();
    await journal.close();
  }
}

async function readCalls(journal: Journal): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  for (const { id } of [...(await journal.batches())].reverse()) calls.push(...(await journal.batch(id)));
  return calls;
}

/** The moment of a kill: around a journal step, at a time after the start, or in a system call. */
export type KillPoint =
  | { readonly kind: 'step'; readonly step: number; readonly when: 'before' | 'after'; readonly name: string }
  | { readonly kind: 'instant'; readonly afterMs: number }
  /** Before the nth system call with this name; requires strace. */
  | { readonly kind: 'system_call'; readonly name: string; readonly nth: number };

/** Data about a run without a kill. */
export interface CalmRun {
  /** The journal operations in order. */
  readonly steps: readonly string[];
  readonly durationMs: number;
}

interface KillCounts {
  readonly steps: number;
  readonly random: number;
}

export function chooseKillPoints(calm: CalmRun, counts: KillCounts, random: () => number): KillPoint[] {
  const around = calm.steps.flatMap((name, index): KillPoint[] =>
    (['before', 'after'] as const).map((when) => ({ kind: 'step', step: index + 1, when, name })),
  );
  const instants = Array.from({ length: counts.random }, (): KillPoint => {
    // A little longer than the calm run, because a round under load takes longer.
    return { kind: 'instant', afterMs: random() * (calm.durationMs * 1.25 + 1) };
  });
  return [...spread(around, counts.steps), ...instants];
}

/** At most `most` of them, evenly spread; if `most` is larger than their number, it starts again. */
function spread(points: readonly KillPoint[], most: number): KillPoint[] {
  if (most === Number.POSITIVE_INFINITY || points.length === 0) return [...points];
  if (most >= points.length) {
    return Array.from({ length: most }, (_, index) => points[index % points.length] as KillPoint);
  }
  return Array.from({ length: most }, (_, index) => {
    return points[Math.floor((index * points.length) / most)] as KillPoint;
  });
}

export function describeKillPoint(point: KillPoint): string {
  if (point.kind === 'instant') return `after ${point.afterMs.toFixed(1)} ms`;
  if (point.kind === 'system_call') return `in ${point.name} number ${point.nth}`;
  return `${point.when} step ${point.step} (${point.name})`;
}

/** A reproducible sequence of numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
