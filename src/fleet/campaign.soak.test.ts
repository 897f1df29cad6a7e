import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type PostgresCluster,
  startPostgres,
  whyNoPostgres,
} from '../journal/postgres/fixtures/postgres-cluster.js';
import { postgresJournal } from '../journal/postgres/open-postgres-journal.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import { soakSize } from '../testing/fixtures/soak-size.js';

// The full campaign: `KILLS=1000 PAUSES=200 CRASHES=50 HOSTS=100 CALLS=50000 DISPATCHERS=graphile-worker,pg-boss
// npx vitest run --mode soak --project soak src/fleet/campaign.soak.test.ts`.
const EVENTS = {
  kill: soakSize('KILLS', { short: 40, whole: 200 }),
  pause: soakSize('PAUSES', { short: 8, whole: 40 }),
  crash: soakSize('CRASHES', { short: 3, whole: 10 }),
  host: soakSize('HOSTS', { short: 3, whole: 20 }),
};
/** The minimum number of calls. */
const CALLS = soakSize('CALLS', { short: 400, whole: 5_000 });
const DISPATCHERS = (process.env.DISPATCHERS ?? 'journal').split(',');
const UNKNOWN = DISPATCHERS.filter((name) => !['journal', 'graphile-worker', 'pg-boss'].includes(name));
// Its workers would use the journal's own notifications, and the campaign would test something else.
if (UNKNOWN.length > 0) throw new Error(`There is no dispatcher "${UNKNOWN.join('", "')}".`);
const SEED = soakSize('SEED', { short: 1, whole: 1 });
const LEASE_MS = 1_000;
const WORKERS = 3;
/** How many rounds of each stream a new host sends again, although they were answered. */
const AGAIN = 5;

type Event = keyof typeof EVENTS;

interface Answer {
  readonly id: string;
  readonly success: boolean;
  readonly code?: string;
  readonly executed?: string;
}

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `workers over Postgres under kills, pauses and crashes${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    let cluster: PostgresCluster;
    const directory = mkdtempSync(join(tmpdir(), 'toolexec-campaign-'));
    const programOf = (name: string) =>
      bundleProgram(fileURLToPath(new URL(`./fixtures/campaign-${name}.mjs`, import.meta.url)));

    beforeAll(async () => {
      cluster = await startPostgres({ fsync: true, connections: 120 });
    });

    afterAll(() => {
      cluster?.end();
      rmSync(directory, { recursive: true, force: true });
    });

    it.each(DISPATCHERS)(
      'run no call twice, lose none, and answer none wrongly (hints: %s)',
      async (dispatcher) => {
        const seen = await campaign(dispatcher);
        process.stdout.write(
          `${JSON.stringify({ dispatcher, SEED, ...EVENTS, ...seen, lost: seen.lost.slice(0, 9) })}\n`,
        );
        expect(seen).toMatchObject({ twice: [], lost: [], false: [], unfinished: [] });
        expect(seen.succeeded).toBeGreaterThan(seen.calls / 2);
      },
      Object.values(EVENTS).reduce((sum, count) => sum + count, 0) * 10_000 + CALLS * 100 + 120_000,
    );

    async function campaign(dispatcher: string) {
      const [effects, tenant] = [join(directory, dispatcher), dispatcher];
      const random = randomNumbers(SEED);
      const answers: Answer[] = [];
      const common = { url: cluster.url(), tenant, effects, dispatcher, leaseMs: LEASE_MS };
      const startWorker = () => startProgram(programOf('worker'), common);
      // The last rounds that the previous host got answers for, and the number of answers.
      let earlier = { rounds: new Map<number, number>(), answers: 0 };
      const startHost = () => {
        const rounds = Object.fromEntries(
          [...earlier.rounds].map(([stream, last]) => [stream, last - AGAIN]),
        );
        return startProgram(programOf('host'), { ...common, name: 'h', rounds }, answers);
      };
      const workers = await Promise.all(Array.from({ length: WORKERS }, startWorker));
      let host = await startHost();
      const pick = (): number => Math.floor(random() * workers.length);
      const resuming: Promise<void>[] = [];
      const acts: Readonly<Record<Event, () => Promise<void>>> = {
        async kill() {
          const at = pick();
          workers[at]?.child.kill('SIGKILL');
          workers[at] = await startWorker();
        },
        async pause() {
          const at = pick();
          const paused = workers[at];
          paused?.child.kill('SIGSTOP');
          // Another worker takes its place. The stopped one wakes up next to it, and is killed later or drained at the
          // end.
          const lastsMs = LEASE_MS * (1.1 + 2 * random());
          workers.push(await startWorker());
          resuming.push(pause(lastsMs).then(() => void paused?.child.kill('SIGCONT')));
          if (workers.length > WORKERS + 3) workers.splice(pick(), 1)[0]?.child.kill('SIGKILL');
        },
        async crash() {
          cluster.stop('immediate');
          await pause(random() * 1.5 * LEASE_MS);
          cluster.start();
        },
        async host() {
          host.child.kill('SIGKILL');
          await host.ended;
          earlier = { rounds: lastRounds(answers), answers: answers.length };
          host = await startHost();
        },
      };
      const events = shuffled(
        Object.entries(EVENTS).flatMap(([name, count]) => Array<Event>(count).fill(name as Event)),
        random,
      );
      for (const event of events) {
        await pause(50 + random() * 400);
        await acts[event]();
      }
      // The previous host may have sent one more round after its last answer; the new host must have sent that round
      // again.
      const hasPassed = (): boolean => {
        const now = lastRounds(answers.slice(earlier.answers));
        return [...earlier.rounds].every(([stream, last]) => (now.get(stream) ?? 0) > last + 1);
      };
      while (countIds(answers) < CALLS || !hasPassed()) await pause(100);
      host.child.stdin?.end();
      await Promise.all(resuming);
      await host.ended;
      for (const { child } of workers) child.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
      return check(tenant, effects, answers);
    }

    async function startProgram(program: string, options: object, answers: Answer[] = []) {
      const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(options)], {
        // It reports on standard error that the journal is unavailable.
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      // Next to working processes a start would take seconds, and most of the campaign would be waiting for starts.
      prefer(child, -15);
      let said = '';
      const ended = once(child, 'close');
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        const lines = `${said}${chunk}`.split('\n');
        // The text after the last line break may be incomplete.
        said = lines.pop() ?? '';
        for (const line of lines) if (line.startsWith('{')) answers.push(JSON.parse(line));
      });
      await Promise.race([once(child.stdout ?? child, 'data'), ended]);
      prefer(child, 0);
      return { child, ended };
    }

    /** Compares the effects with the answers and with the journal. */
    async function check(tenant: string, effects: string, answers: readonly Answer[]) {
      const counts = new Map<string, number>();
      const lines = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
      for (const id of lines) counts.set(id, (counts.get(id) ?? 0) + 1);
      const isFalse = ({ id, success, executed }: Answer): boolean => {
        const count = counts.get(id) ?? 0;
        return success || executed === 'yes' ? count !== 1 : executed === 'no' && count !== 0;
      };
      const journal = postgresJournal({ url: cluster.url(), tenant, busyTimeoutMs: 120_000 });
      const last = new Map(answers.map((answer) => [answer.id, answer]));
      const lost = lines.filter((id) => !last.has(id));
      const isStored = async ({ id, success, code }: Answer): Promise<boolean> => {
        const stored = (await journal.find(id.split('-').slice(0, 2).join('-'), id))?.result;
        return stored?.success === success && stored.error?.code === code;
      };
      const found = await Promise.all(
        [...last.values()].map(async (answer) => ((await isStored(answer)) ? [] : [answer.id])),
      );
      lost.push(...found.flat());
      const unfinished = (await journal.unfinished()).map(({ callId }) => callId);
      await journal.close();
      return {
        calls: last.size,
        succeeded: [...last.values()].filter(({ success }) => success).length,
        unknown: [...last.values()].filter(({ executed }) => executed === 'maybe').length,
        notRun: [...last.values()].filter(({ executed }) => executed === 'no').length,
        failures: countEach([...last.values()].flatMap(({ code }) => code ?? [])),
        twice: [...counts].filter(([, count]) => count > 1),
        lost,
        false: answers.filter(isFalse),
        unfinished,
      };
    }
  },
);

/** Only root may give a process precedence. */
function prefer({ pid }: ChildProcess, priority: number): void {
  try {
    if (pid !== undefined) setPriority(pid, priority);
  } catch {}
}

function countIds(answers: readonly Answer[]): number {
  return new Set(answers.map(({ id }) => id)).size;
}

/** The last answered round of each stream. */
function lastRounds(answers: readonly Answer[]): Map<number, number> {
  const rounds = new Map<number, number>();
  for (const { id } of answers) {
    const [, stream, round] = id.split('-').map(Number);
    if (stream !== undefined && round !== undefined)
      rounds.set(stream, Math.max(round, rounds.get(stream) ?? 0));
  }
  return rounds;
}

function countEach(values: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** A linear generator: the same seed gives the same campaign, as far as processes allow. */
function randomNumbers(seed: number): () => number {
  let state = (seed * 48_271 + 11) % 2_147_483_647;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function shuffled<T>(values: T[], random: () => number): readonly T[] {
  for (let index = values.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [values[index], values[other]] = [values[other] as T, values[index] as T];
  }
  return values;
}
