import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { soakSize } from '../../testing/fixtures/soak-size.js';
import { type PostgresCluster, startPostgres, whyNoPostgres } from './fixtures/postgres-cluster.js';
import { postgresJournal } from './open-postgres-journal.js';

// `KILLS=300 CRASHES=30 npx vitest run --mode soak src/journal/postgres/crash.soak.test.ts` is a longer campaign.
const KILLS = soakSize('KILLS', { short: 3, whole: 12 });
const CRASHES = soakSize('CRASHES', { short: 1, whole: 4 });
/** The calls of one round, which two processes deliver at the same time. */
const CALLS = 60;

interface Answer {
  readonly id: string;
  readonly success: boolean;
  readonly code?: string;
  readonly executed?: string;
}

const missing = whyNoPostgres();

describe.skipIf(missing !== undefined)(
  `a journal in Postgres under kills${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    let cluster: PostgresCluster;
    const directory = mkdtempSync(join(tmpdir(), 'toolexec-fleet-'));
    const program = bundleProgram(fileURLToPath(new URL('./fixtures/run-calls.mjs', import.meta.url)));

    beforeAll(async () => {
      cluster = await startPostgres({ fsync: true });
    });

    afterAll(() => {
      cluster?.end();
      rmSync(directory, { recursive: true, force: true });
    });

    it(
      'runs no call twice, loses none and answers none wrongly, if executors or the server end',
      async () => {
        const events = shuffled([
          ...Array.from({ length: KILLS }, () => 'kill' as const),
          ...Array.from({ length: CRASHES }, () => 'crash' as const),
        ]);
        const seen = await campaign('fenced', events);
        process.stdout.write(`${JSON.stringify({ KILLS, CRASHES, ...seen })}\n`);
        expect(seen).toMatchObject({ twice: [], lost: [], false: [] });
        expect(seen.succeeded).toBeGreaterThan(0);
      },
      (KILLS + CRASHES + 1) * 30_000,
    );

    it('runs calls twice without the fences', async () => {
      const { twice } = await campaign('unfenced', ['kill']);
      expect(twice.length).toBeGreaterThan(0);
    });

    /** Two processes deliver the same calls, one of them or the server ends, and a third delivers them again. */
    async function campaign(fences: 'fenced' | 'unfenced', events: readonly ('kill' | 'crash')[]) {
      const answers: Answer[] = [];
      const effects = join(directory, fences);
      const start = (round: number) =>
        startProgram([fences, effects, round * CALLS, (round + 1) * CALLS, fences], answers);
      for (const [round, event] of events.entries()) {
        const two = [start(round), start(round)] as const;
        await Promise.race(two.map(({ begun }) => begun));
        await pause(Math.random() * 150);
        if (event === 'kill') two[0].kill();
        else await crash();
        await Promise.all(two.map(({ ended }) => ended));
        await start(round).ended;
      }
      return check(fences, effects, answers, events.length * CALLS);
    }

    async function crash(): Promise<void> {
      cluster.stop('immediate');
      await pause(Math.random() * 300);
      cluster.start();
    }

    function startProgram(options: readonly (string | number)[], answers: Answer[]) {
      const child: ChildProcessByStdio<null, Readable, null> = spawn(
        process.execPath,
        [program, cluster.url(), ...options.map(String)],
        // It reports on standard error that the journal is unavailable.
        { stdio: ['ignore', 'pipe', 'ignore'] },
      );
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
      const ended = once(child, 'close').then(() => {
        // The text after the last line break is incomplete.
        for (const line of said.split('\n').slice(0, -1)) answers.push(JSON.parse(line));
      });
      return { begun: once(child.stdout, 'data'), ended, kill: () => child.kill('SIGKILL') };
    }

    /** Compares the effects, the answers, and the journal. */
    async function check(tenant: string, effects: string, answers: readonly Answer[], calls: number) {
      const counts = new Map<string, number>();
      const lines = existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
      for (const id of lines) counts.set(id, (counts.get(id) ?? 0) + 1);
      const isFalse = ({ id, success, executed }: Answer): boolean => {
        const count = counts.get(id) ?? 0;
        return success || executed === 'yes' ? count !== 1 : executed === 'no' && count !== 0;
      };
      const journal = postgresJournal({ url: cluster.url(), tenant });
      const lost: string[] = [];
      let unknown = 0;
      for (let index = 0; index < calls; index++) {
        const id = `k${index}`;
        const result = (await journal.find(id, id))?.result;
        if (result?.error?.code === 'outcome_unknown') unknown++;
        if (result === undefined || !answers.some((each) => each.id === id)) lost.push(id);
        else if (isFalse({ id, success: result.success, executed: executedOf(result.error?.details) }))
          lost.push(`false ${id}`);
      }
      await journal.close();
      return {
        calls,
        unknown,
        succeeded: answers.filter(({ success }) => success).length,
        twice: [...counts].filter(([, count]) => count > 1),
        lost,
        false: answers.filter(isFalse),
      };
    }
  },
);

function executedOf(details: { readonly executed?: unknown } | undefined): string {
  return String(details?.executed);
}

function shuffled<T>(values: T[]): readonly T[] {
  for (let index = values.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [values[index], values[other]] = [values[other] as T, values[index] as T];
  }
  return values;
}
