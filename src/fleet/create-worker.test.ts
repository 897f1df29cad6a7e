import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { Executor } from '../contract/executor.js';
import type { CallKey, Journal, Placement } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { isToolError } from '../errors/tool-error.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { openJournal } from '../journal/open-journal.js';
import { systemClock } from '../platform/clock/clock.js';
import { batchEntry, callEntry } from '../testing/journal-entries.js';
import { createWorker, type WorkerOptions } from './create-worker.js';
import { unreliableDispatcher } from './fixtures/unreliable-dispatcher.js';
import type { FleetWorker } from './fleet-worker.js';

interface Desk {
  readonly root: string;
  readonly journal: string;
  readonly log: string;
}

function newDesk(): Desk {
  const place = folder();
  return { root: folder(), journal: join(place, 'journal.db'), log: join(place, 'log') };
}

/** Records when it begins and ends; waits until it is released or stopped. */
function workTool({ log }: Pick<Desk, 'log'>, name = 'work') {
  return defineTool({
    name,
    description: 'works',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        ms: { type: 'number' },
        until: { type: 'string' },
        effects: { type: 'array', items: { type: 'object' } },
      },
      required: ['name'],
    } as const,
    effects: ({ effects }) => (effects ?? []) as unknown as Effect[],
    async execute({ name: job, ms = 0, until }, { signal }) {
      appendFileSync(log, `${job} begins\n`);
      if (until !== undefined)
        while (!existsSync(until) && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      appendFileSync(log, `${job} ${signal.aborted ? 'stops' : 'ends'}\n`);
      return `did ${job}`;
    },
  });
}

function hostOf(desk: Desk, options: Partial<ExecutorOptions> = {}): Executor {
  const { fleet, ...rest } = options;
  const executor = createExecutor({
    ...{ journal: desk.journal, tools: [workTool(desk)], root: desk.root, policy: null, approver: null },
    ...rest,
    fleet: { run: 'anywhere', ...fleet },
  });
  onTestFinished(() => executor.close());
  return executor;
}

function workerOf(desk: Desk, options: Partial<WorkerOptions> = {}): FleetWorker {
  const worker = createWorker({
    journal: desk.journal,
    tools: [workTool(desk)],
    root: desk.root,
    ...options,
  });
  onTestFinished(() => worker.close());
  return worker;
}

const work = (name: string, args: JsonObject = {}) => ({ id: name, name: 'work', args: { name, ...args } });
const linesOf = ({ log }: Desk): readonly string[] =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
const writes = (path: string) => [{ kind: 'write', path }];
const reads = (path: string) => [{ kind: 'read', path }];
const WRITES = writes('f');
const IN_C = { conversation: 'c' };

/** Queues calls, like a host that has died since. */
async function acceptAnywhere(
  journal: Journal,
  names: readonly string[],
  placement: Placement,
): Promise<readonly { readonly key: CallKey }[]> {
  const calls = names.map((name) => ({ ...callEntry(name), toolName: 'work', args: { name }, effects: [] }));
  const { worker: _, ...entry } = batchEntry(`b-${names.join('-')}`, calls);
  return journal.accept({ ...entry, at: Date.now() - 1_000, placement });
}

describe('a host whose calls any worker may run', () => {
  it('gets the real results of a worker over the same journal', async () => {
    const desk = newDesk();
    const host = hostOf(desk);
    workerOf(desk);
    const results = await host.run([work('a'), work('b')], IN_C);
    expect(results.map(({ output }) => output)).toEqual(['did a', 'did b']);
    const replayed = await host.run([work('a')], IN_C);
    expect(replayed[0]).toMatchObject({ output: 'did a', metadata: { replayed: true } });
    expect(linesOf(desk).filter((line) => line === 'a begins')).toHaveLength(1);
  });

  it('records whose calls they are', async () => {
    const desk = newDesk();
    const host = hostOf(desk, { fleet: { run: 'anywhere', tenant: 'acme' } });
    workerOf(desk);
    await host.run([work('a')], IN_C);
    const journal = openJournal(desk.journal);
    onTestFinished(async () => journal.close());
    const record = await journal.find('c', 'a');
    expect(record?.placement).toMatchObject({ tenant: 'acme' });
    expect(() => hostOf(desk, { fleet: { run: 'anywhere', tenant: 'a/b' } })).toThrow(
      'fleet.tenant must be a name of A-Z',
    );
  });

  it('records the approval of the person before a worker starts the call, and runs no denied call', async () => {
    const desk = newDesk();
    const seen: string[] = [];
    const host = hostOf(desk, {
      policy: {},
      approver: async () => {
        await new Promise((resolve) => setTimeout(resolve, 150));
        seen.push(...linesOf(desk));
        return {
          kind: 'approve_selected',
          ids: ['a'],
          edits: { a: { name: 'edited', effects: WRITES } },
          reasons: { b: 'no' },
        };
      },
    });
    workerOf(desk);
    const results = await host.run([work('a', { effects: WRITES }), work('b', { effects: WRITES })], IN_C);
    expect(seen).toEqual([]);
    expect(results.map(({ output, error }) => error?.code ?? output)).toEqual(['did edited', 'user_denied']);
    expect(linesOf(desk)).toEqual(['edited begins', 'edited ends']);
  });

  it('records an approval that the host program gives in advance', async () => {
    const desk = newDesk();
    const host = hostOf(desk, { policy: {} });
    workerOf(desk);
    const [result] = await host.run([work('a', { effects: WRITES })], IN_C);
    expect(result?.output).toBe('did a');
  });

  it('runs conflicting calls of a conversation in order, and the others side by side', async () => {
    const desk = newDesk();
    const gate = join(desk.root, '..', `gate-${process.pid}-${Date.now()}`);
    const hosts = [hostOf(desk), hostOf(desk)] as const;
    workerOf(desk);
    workerOf(desk);
    const first = hosts[0].run(
      [
        work('w1', { effects: writes('f'), until: gate }),
        work('w2', { effects: writes('f') }),
        work('o', { effects: writes('g') }),
      ],
      IN_C,
    );
    await expect.poll(() => linesOf(desk)).toContain('o ends');
    const later = hosts[1].run([work('w3', { effects: reads('f') })], IN_C);
    await hosts[1].run([work('x', { effects: writes('f') })], { conversation: 'other' });
    expect(linesOf(desk)).not.toContain('w2 begins');
    appendFileSync(gate, '');
    onTestFinished(() => rmSync(gate));
    await Promise.all([first, later]);
    const order = linesOf(desk).filter((line) => /^w/.test(line));
    expect(order).toEqual(['w1 begins', 'w1 ends', 'w2 begins', 'w2 ends', 'w3 begins', 'w3 ends']);
  });

  it('answers a call that no worker can start before its deadline: expired, not executed', async () => {
    const desk = newDesk();
    const host = hostOf(desk, { fleet: { run: 'anywhere', startDeadlineMs: 300, labels: ['gpu'] } });
    workerOf(desk);
    const [result] = await host.run([work('a')], IN_C);
    expect(result?.error).toMatchObject({
      code: 'expired',
      details: { executed: 'no', start_deadline_ms: 300 },
    });
    workerOf(desk, { labels: ['gpu', 'big'] });
    expect((await host.run([work('b')], IN_C))[0]?.output).toBe('did b');
    expect(linesOf(desk)).toEqual(['b begins', 'b ends']);
  });

  it('leaves the calls of a dead host to the next worker, which answers them as expired at their deadline', async () => {
    const desk = newDesk();
    const host = hostOf(desk, { fleet: { run: 'anywhere', startDeadlineMs: 200 } });
    const journal = openJournal(desk.journal);
    onTestFinished(() => journal.close());
    const [key = ''] = (await acceptAnywhere(journal, ['a'], { startDeadlineMs: 1 })).map(({ key }) => key);
    workerOf(desk);
    await expect.poll(async () => (await journal.call(key))?.result?.error?.code).toBe('expired');
    expect(linesOf(desk)).toEqual([]);
    void host;
  });

  it('cancels a queued call at once, and a running one within a moment', async () => {
    const desk = newDesk();
    const host = hostOf(desk);
    const queued = host.start([work('a')], IN_C);
    await new Promise((resolve) => setTimeout(resolve, 50));
    queued.cancel();
    expect((await queued.results)[0]?.error).toMatchObject({
      code: 'cancelled',
      details: { executed: 'no' },
    });
    workerOf(desk);
    const running = host.start([work('b', { until: '/never' })], IN_C);
    await expect.poll(() => linesOf(desk)).toEqual(['b begins']);
    const since = performance.now();
    running.cancel();
    await expect.poll(() => linesOf(desk), { interval: 5 }).toEqual(['b begins', 'b stops']);
    // A worker looks ten times a second. bench/fleet-cancel.ts measures the time.
    expect(performance.now() - since).toBeLessThan(10_000);
    expect((await running.results)[0]?.error).toMatchObject({
      code: 'cancelled',
      details: { executed: 'maybe' },
    });
  });

  it('sends a call that touches files to the worker that has its root', async () => {
    const [desk, other] = [newDesk(), newDesk()];
    const host = hostOf(desk, { fleet: { run: 'anywhere', startDeadlineMs: 300 } });
    workerOf({ ...other, journal: desk.journal });
    const [touches, not] = await host
      .run([work('a', { effects: writes('f') })], IN_C)
      .then(async (all) => [...all, ...(await host.run([work('b')], IN_C))]);
    expect(touches?.error?.code).toBe('expired');
    expect(not?.output).toBe('did b');
    expect(linesOf(other)).toEqual(['b begins', 'b ends']);
  });

  it('passes the timeout on, and keeps the refusal of a worker whose policy forbids the call', async () => {
    const desk = newDesk();
    const host = hostOf(desk, { tools: [workTool(desk), workTool(desk, 'other')] });
    workerOf(desk, {
      tools: [workTool(desk), workTool(desk, 'other')],
      policy: { denylist: ['other'] },
    });
    const slow = await host.run([work('a', { until: '/never' })], { ...IN_C, timeoutMs: 100 });
    expect(slow[0]?.error?.code).toBe('timeout');
    const [refused] = await host.run([{ ...work('b'), name: 'other' }], IN_C);
    expect(refused?.error).toMatchObject({ code: 'denylisted', details: { executed: 'no' } });
  });

  it('needs a journal that workers share', () => {
    const wrong = (options: object): string => {
      try {
        createExecutor({ ...options, fleet: { run: 'anywhere' } });
      } catch (error) {
        if (isToolError(error, 'config_invalid')) return error.message;
      }
      return '';
    };
    expect(wrong({ journal: false })).toContain('fleet.run');
    // No worker can see it, so every call would wait forever.
    expect(wrong({})).toContain('in memory');
    expect(wrong({ journal: { redactArguments: true } })).toContain('in memory');
  });
});

describe('a worker', () => {
  it('finishes running calls when it drains, takes no new ones, and ends its session', async () => {
    const desk = newDesk();
    const host = hostOf(desk);
    const worker = workerOf(desk);
    const running = host.run([work('a', { ms: 150 })], IN_C);
    await expect.poll(() => linesOf(desk)).toEqual(['a begins']);
    const drained = worker.drain();
    const later = host.run([work('b')], IN_C);
    await drained;
    expect((await running)[0]?.output).toBe('did a');
    expect(linesOf(desk)).toEqual(['a begins', 'a ends']);
    const journal = openJournal(desk.journal);
    expect(await journal.sessions?.()).toEqual([]);
    await journal.close();
    workerOf(desk);
    expect((await later)[0]?.output).toBe('did b');
  });

  it('aborts running calls when its lease is lost, whatever the wall clock says, and continues in a new session', async () => {
    const desk = newDesk();
    const host = hostOf(desk);
    let skipped = 0;
    const clock = {
      ...systemClock,
      monotonic: () => systemClock.monotonic() + skipped,
      now: () => Date.parse('2020-01-01'),
    };
    workerOf(desk, { leaseMs: 60_000, clock });
    const running = host.run([work('a', { until: '/never' })], IN_C);
    await expect.poll(() => linesOf(desk)).toEqual(['a begins']);
    skipped = 60_001;
    // The worker answers that it aborted the call, unless its next session ends the old one first.
    expect((await running)[0]?.error).toMatchObject({
      code: expect.stringMatching(/^(?:cancelled|outcome_unknown)$/),
      details: { executed: 'maybe' },
    });
    expect((await host.run([work('b')], IN_C))[0]?.output).toBe('did b');
    const journal = openJournal(desk.journal);
    onTestFinished(() => journal.close());
    expect((await journal.find('c', 'a'))?.worker?.epoch).toBe(1);
    expect((await journal.find('c', 'b'))?.worker?.epoch).toBe(2);
  });

  it('runs each call once, even if hints are lost, repeated, late or out of order', async () => {
    const desk = newDesk();
    let seed = 7;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const dispatcher = unreliableDispatcher(random);
    const host = hostOf(desk, {
      fleet: { run: 'anywhere', dispatcher },
      limits: { maxToolCallsPerBatch: 20 },
    });
    workerOf(desk, { dispatcher, concurrency: 2 });
    workerOf(desk, { dispatcher, concurrency: 2 });
    const names = Array.from({ length: 20 }, (_, index) => `h${index}`);
    const results = await host.run(
      names.map((name, index) => work(name, index % 3 === 0 ? { effects: WRITES } : {})),
      IN_C,
    );
    expect(results.map(({ output }) => output)).toEqual(names.map((name) => `did ${name}`));
    expect(linesOf(desk)).toHaveLength(40);
    expect(dispatcher.sent.length).toBeGreaterThanOrEqual(20);
  });

  it('starts a call within a moment of its hint, and sweeps for lost hints', async () => {
    const desk = newDesk();
    const lost = { hint() {}, listen: () => () => {} };
    const direct = unreliableDispatcher(() => 0.5);
    const [silent, hinting] = [
      hostOf(desk, { fleet: { run: 'anywhere', dispatcher: lost } }),
      hostOf(desk, { fleet: { run: 'anywhere', dispatcher: direct } }),
    ];
    workerOf(desk, { dispatcher: direct });
    await hinting.run([work('a')], IN_C);
    const times: number[] = [];
    for (const name of ['b', 'c', 'd']) {
      const since = performance.now();
      await hinting.run([work(name)], IN_C);
      times.push(performance.now() - since);
    }
    // On a busy machine some take longer.
    expect(Math.min(...times)).toBeLessThan(1_000);
    expect((await silent.run([work('e')], IN_C))[0]?.output).toBe('did e');
  });

  it.each([
    ['options.concurrency', { concurrency: 0 }],
    ['options.leaseMs', { leaseMs: 5 }],
    ['options.labels', { labels: 'gpu' }],
    ['options.journal', { journal: undefined }],
    ['options.fleet', { fleet: { run: 'here' } }],
    ['options.roots', { root: '.', roots: '..' }],
    ['options.rot', { rot: '.' }],
    ['options.dispatcher', { dispatcher: {} }],
  ])('names a wrong %s', (name, options) => {
    const desk = newDesk();
    expect(() => createWorker({ journal: desk.journal, ...options } as WorkerOptions)).toThrow(name);
  });
});
