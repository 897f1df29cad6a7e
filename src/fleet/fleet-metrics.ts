import type { Clock } from '../contract/context.js';
import type { CallRecord, Journal, OpenCounts } from '../contract/journal.js';
import type { FeedCounts } from './journal-feed.js';

interface MetricsParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly counts: FeedCounts;
  /** The number of open event streams. */
  readonly watchers: number;
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The state of a fleet in the text format of Prometheus. Counters start at zero with the server. */
export async function describeMetrics({ journal, clock, counts, watchers }: MetricsParts): Promise<string> {
  const { queued, oldestQueuedAt, running, waitingBatches } =
    (await journal.openCounts?.()) ?? (await countOpen(journal));
  const sessions = (await journal.sessions?.()) ?? [];
  const age = Math.max(0, clock.now() - (oldestQueuedAt ?? clock.now()));
  const living = sessions.filter(({ endedAt }) => endedAt === undefined);
  const value = (number: number): readonly Sample[] => [{ value: number }];
  return [
    metric('queued_calls', 'gauge', 'Calls that wait for a worker.', value(queued)),
    metric('queue_age_seconds', 'gauge', 'Age of the oldest of them.', value(age / 1000)),
    metric('running_calls', 'gauge', 'Calls that workers run.', value(running)),
    metric('waiting_batches', 'gauge', 'Batches that wait for a person.', value(waitingBatches)),
    metric('workers', 'gauge', 'Workers with a session.', value(living.length)),
    metric(
      'worker_beats_total',
      'counter',
      'Renewals of the session of each worker.',
      living.map(({ worker, beat }) => ({ labels: { worker: worker.id }, value: beat })),
    ),
    metric('claims_total', 'counter', 'Calls that workers have started.', value(counts.claims)),
    metric(
      'results_total',
      'counter',
      'Results by success or the code of the error.',
      [...counts.results].map(([outcome, number]) => ({ labels: { outcome }, value: number })),
    ),
    metric(
      'unknown_total',
      'counter',
      'Calls with an unknown outcome.',
      value(counts.results.get('outcome_unknown') ?? 0),
    ),
    metric('watchers', 'gauge', 'Open streams of events.', value(watchers)),
  ].join('');
}

/** For a journal that cannot count. */
async function countOpen(journal: Journal): Promise<OpenCounts> {
  const open = await journal.unfinished();
  const queued = open.filter(isQueued);
  const waiting = new Set(open.filter(({ decision }) => decision === 'wait').map(({ batchId }) => batchId));
  return {
    queued: queued.length,
    ...(queued[0] === undefined
      ? {}
      : { oldestQueuedAt: Math.min(...queued.map(({ acceptedAt }) => acceptedAt)) }),
    running: open.filter(({ state }) => state === 'running').length,
    waitingBatches: waiting.size,
  };
}

function isQueued({ state, placement, decision }: CallRecord): boolean {
  return state === 'queued' && placement !== undefined && decision !== 'wait';
}

function metric(name: string, type: 'gauge' | 'counter', help: string, samples: readonly Sample[]): string {
  const full = `toolexec_fleet_${name}`;
  const lines = samples.map(({ labels = {}, value }) => {
    const named = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${full}${named.length === 0 ? '' : `{${named.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('')}`;
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));
}
