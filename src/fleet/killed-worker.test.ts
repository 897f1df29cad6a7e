import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from '../executor/create-executor.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { openJournal } from '../journal/open-journal.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';

const PROGRAM = bundleProgram(fileURLToPath(new URL('./fixtures/worker.mjs', import.meta.url)));

/** A host in this process, and workers in separate processes, over one SQLite journal. */
function newFleet() {
  const [place, root] = [folder(), folder()];
  const [journal, log, gate] = [join(place, 'journal.db'), join(place, 'log'), join(place, 'gate')];
  const tool = probeTool('work', () => 'never here', { effects: ({ effects }) => (effects ?? []) as never });
  const host = createExecutor({
    ...{ journal, root, tools: [tool], policy: null, approver: null },
    limits: { maxToolCallsPerBatch: 100 },
    fleet: { run: 'anywhere' },
  });
  onTestFinished(() => host.close());
  const lines = (): readonly string[] =>
    existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  const startWorker = async (options: JsonObject = {}) => {
    const given = JSON.stringify({ journal, root, log, leaseMs: 1_000, ...options });
    const child = spawn(process.execPath, [PROGRAM, given], { stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  };
  const runsOf = (name: string): number => lines().filter((line) => line.startsWith(`${name} begins`)).length;
  const begun = (name: string) => expect.poll(() => runsOf(name)).toBe(1);
  return { host, journal, gate, lines, startWorker, runsOf, begun, open: () => appendFileSync(gate, '') };
}

const work = (name: string, args: JsonObject = {}) => ({ id: name, name: 'work', args: { name, ...args } });
const TOUCHES = [{ kind: 'unknown' }];
const IN_C = { conversation: 'c' };

describe('a worker that is killed', () => {
  it('leaves one truthful result for each call: nothing runs twice, and other workers go on', async () => {
    const { host, gate, startWorker, runsOf, begun, lines } = newFleet();
    const first = await startWorker();
    const running = host.run(
      [work('a', { until: gate, effects: TOUCHES }), work('b', { effects: TOUCHES })],
      IN_C,
    );
    await begun('a');
    first.kill('SIGKILL');
    await startWorker();
    const [a, b] = await running;
    expect(a?.error).toMatchObject({ code: 'outcome_unknown', details: { executed: 'maybe' } });
    expect(b?.output).toBe('did b');
    expect([runsOf('a'), runsOf('b')]).toEqual([1, 1]);
    expect(lines().some((line) => line.startsWith('a ends'))).toBe(false);
    expect((await host.run([work('a', { until: gate, effects: TOUCHES })], IN_C))[0]?.error?.code).toBe(
      'outcome_unknown',
    );
  });

  it('and had finished another call of the batch, does not block the conversation', {
    tags: ['soak'],
  }, async () => {
    const { host, gate, startWorker, begun, lines } = newFleet();
    const first = await startWorker();
    const running = host.run([work('a'), work('b', { until: gate })], IN_C);
    await begun('b');
    await expect.poll(() => lines().some((line) => line.startsWith('a ends'))).toBe(true);
    first.kill('SIGKILL');
    await startWorker();
    const results = await running;
    expect(results[1]?.error?.code).toBe('outcome_unknown');
    const [c] = await host.run([work('c')], IN_C);
    expect(c?.output).toBe('did c');
  });

  it('has its call answered by a probe, if the tool has one', async () => {
    const { host, gate, startWorker, begun } = newFleet();
    const first = await startWorker({ probes: true });
    const running = host.run([work('a', { until: gate })], IN_C);
    await begun('a');
    await startWorker({ probes: true });
    first.kill('SIGKILL');
    const [a] = await running;
    // The host also notices the death, and has no probe: both answers are true.
    expect(['cancelled', 'outcome_unknown']).toContain(a?.error?.code);
  });

  it('but was only paused past its lease, repeats no call when it resumes', async () => {
    const { host, journal, gate, startWorker, runsOf, begun, open, lines } = newFleet();
    const paused = await startWorker();
    const running = host.run([work('a', { until: gate })], IN_C);
    await begun('a');
    paused.kill('SIGSTOP');
    await startWorker();
    const [a] = await running;
    expect(a?.error?.code).toBe('outcome_unknown');
    open();
    paused.kill('SIGCONT');
    await expect.poll(() => lines().some((line) => line.startsWith('a ends'))).toBe(true);
    expect((await host.run([work('b')], IN_C))[0]?.output).toBe('did b');
    const store = openJournal(journal);
    onTestFinished(() => store.close());
    const record = await store.find('c', 'a');
    expect(record?.result?.error?.code).toBe('outcome_unknown');
    const late = async () => (await store.notes(record?.key ?? '')).map(({ kind }) => kind);
    await expect.poll(late).toContain('late_result');
    expect([runsOf('a'), runsOf('b')]).toEqual([1, 1]);
  });

  it('again and again, loses and repeats no call', { tags: ['soak'], timeout: 180_000 }, async () => {
    const { host, startWorker, lines } = newFleet();
    const names = Array.from({ length: 60 }, (_, index) => `k${index}`);
    await startWorker();
    let isOver = false;
    const killing = (async () => {
      for (let kills = 0; !isOver && kills < 4; kills++) {
        const victim = await startWorker();
        await new Promise((resolve) => setTimeout(resolve, 20 + 37 * kills));
        victim.kill('SIGKILL');
      }
    })();
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, batch) =>
        host.run(
          names.slice(batch * 10, batch * 10 + 10).map((name) => work(name)),
          { conversation: `c${batch}` },
        ),
      ),
    ).then((all) => all.flat());
    isOver = true;
    await killing;
    const log = lines();
    for (const [index, name] of names.entries()) {
      const runs = log.filter((line) => line.startsWith(`${name} begins`)).length;
      const ends = log.filter((line) => line.startsWith(`${name} ends`)).length;
      const { success = false, error } = results[index] ?? {};
      expect(runs, name).toBeLessThanOrEqual(1);
      if (success) expect(ends, name).toBe(1);
      else expect(['outcome_unknown', 'cancelled'], name).toContain(error?.code);
      if (error?.details?.executed === 'no') expect(runs, name).toBe(0);
    }
  });
});
