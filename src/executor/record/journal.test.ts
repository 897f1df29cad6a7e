import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import type { Tool } from '../../contract/tool.js';
import { createMemoryJournal } from '../../journal/memory/memory-journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { hashArguments } from '../../schema/freeze-arguments.js';
import { builtinTools } from '../builtin-tools.js';
import { defineTool } from '../declare/define-tool.js';
import { countingTool, executorOf, folder } from '../fixtures/plan-fixture.js';

const INPUT = { type: 'object' } as const;

/** A tool with a side effect, whose behaviour the test chooses. */
function writer(name = 'writer', act: () => unknown = () => undefined) {
  const runs: unknown[] = [];
  const tool = defineTool({
    name,
    description: 'd',
    input: INPUT,
    effects: () => [{ kind: 'write', path: 'a' }],
    async execute(args) {
      runs.push(args);
      await act();
      return `ran ${runs.length}`;
    },
  });
  return { tool, runs };
}

const call = (id: string, name = 'writer', args: object = {}): ToolCall => ({ id, name, args }) as ToolCall;
const codes = (results: readonly { error?: { code: string } | undefined }[]) =>
  results.map(({ error }) => error?.code);

async function look<T>(path: string, act: (journal: Journal) => Promise<T> | T): Promise<T> {
  const journal = openJournal(path);
  try {
    return await act(journal);
  } finally {
    await journal.close();
  }
}

describe('the journal file', () => {
  it('holds the effects that the policy saw in a command', async () => {
    const path = join(folder(), 'journal.db');
    const executor = executorOf(builtinTools(), { journal: path, approver: () => ({ kind: 'deny_all' }) });
    const calls = [call('c', 'bash', { command: 'cat a > b' })];
    const planned = (await executor.plan(calls)).calls[0]?.effects;
    await executor.run(calls);
    await executor.close();
    const [record] = await look(path, async (journal) =>
      journal.batch((await journal.batches())[0]?.id ?? ''),
    );
    expect(record?.effects).toEqual(planned);
    expect(record?.effects.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['run', 'read', 'write']));
  });

  it('holds every call and every result, with what was asked and agreed', async () => {
    const path = join(folder(), 'new', 'journal.db');
    const failing = writer('failing', () => {
      throw new Error('broken');
    });
    const executor = executorOf([writer().tool, failing.tool], {
      journal: path,
      approver: (requests) => ({
        kind: 'approve_selected',
        ids: requests.map(({ callId }) => callId).filter((id) => id !== 'denied'),
        edits: { edited: { x: 2 } },
      }),
    });
    const calls = [
      call('ok', 'writer', { x: 1 }),
      call('ghost', 'ghost', { y: [1, { z: null }] }),
      call('denied'),
      call('fails', 'failing'),
      call('edited', 'writer', { x: 1 }),
      call('ok', 'writer', { x: 3 }),
    ];
    const results = await executor.run(calls, { conversation: 'c' });
    await executor.close();
    expect(codes(results)).toEqual([
      undefined,
      'unknown_tool',
      'user_denied',
      'execution_failed',
      undefined,
      'duplicate_tool_call_id',
    ]);
    await look(path, async (journal) => {
      expect(await journal.unfinished()).toEqual([]);
      const batchId = (await journal.find('c', 'ok'))?.batchId ?? '';
      const records = await journal.batch(batchId);
      expect(records.map(({ result }) => result)).toEqual(results);
      expect(
        records.map(({ callId, args, disposition, state }) => [callId, args, disposition, state]),
      ).toEqual([
        ['ok', { x: 1 }, 'requires_confirmation', 'done'],
        ['ghost', { y: [1, { z: null }] }, 'pre_resolved', 'done'],
        ['denied', {}, 'requires_confirmation', 'done'],
        ['fails', {}, 'requires_confirmation', 'done'],
        ['edited', { x: 1 }, 'requires_confirmation', 'done'],
        ['ok', { x: 3 }, 'pre_resolved', 'done'],
      ]);
      expect(records[0]?.effects).toEqual([{ kind: 'write', path: 'a' }]);
      expect(records.map(({ worker }) => worker?.pid)).toEqual([
        process.pid,
        undefined,
        undefined,
        process.pid,
        process.pid,
        undefined,
      ]);
      const notes = await Promise.all(records.map(({ key }) => journal.notes(key)));
      expect(notes.map(([note]) => note?.data)).toEqual([
        { approved: true, argsHash: hashArguments({ x: 1 }), args: { x: 1 } },
        undefined,
        { approved: false, reason: expect.any(String) },
        { approved: true, argsHash: hashArguments({}), args: {} },
        { approved: true, argsHash: hashArguments({ x: 2 }), args: { x: 2 } },
        undefined,
      ]);
    });
  });

  it('says that a call runs while it runs, and what it gave before the next one starts', async () => {
    const path = join(folder(), 'journal.db');
    const seen: unknown[] = [];
    const state = (records: readonly CallRecord[]) => records.map((record) => [record.callId, record.state]);
    const watch = async () => seen.push(await look(path, async (journal) => state(await everyCall(journal))));
    const everyCall = async (journal: Journal) => {
      const first = await journal.find('c', '1');
      return journal.batch(first?.batchId ?? '');
    };
    const executor = executorOf([writer('writer', watch).tool], { journal: path, approver: null });
    await executor.run([call('1'), call('2')], { conversation: 'c' });
    expect(seen).toEqual([
      [
        ['1', 'running'],
        ['2', 'queued'],
      ],
      [
        ['1', 'done'],
        ['2', 'running'],
      ],
    ]);
  });

  it('has on disk what a call gave before another starts that only reads', async () => {
    const path = join(folder(), 'journal.db');
    const seen: unknown[] = [];
    const looks = defineTool({
      name: 'looks',
      description: 'd',
      input: INPUT,
      effects: () => [{ kind: 'read', path: 'a' }],
      async execute() {
        const first = await look(path, (journal) => journal.find('c', '1'));
        seen.push([first?.state, first?.result?.output]);
        return 'seen';
      },
    });
    const file = openJournal(path);
    // A slow disk.
    const slow = new Proxy(file, {
      get(target, name) {
        if (name === 'durable') return target.durable;
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'finish') return value.bind(target);
        return async (...args: Parameters<Journal['finish']>) => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          return target.finish(...args);
        };
      },
    });
    const executor = executorOf([writer().tool, looks], { journal: slow, approver: null });
    const calls = [call('1'), call('2', 'looks'), call('3', 'looks')];
    const results = await executor.run(calls, { conversation: 'c' });
    await file.close();
    expect(results.every(({ success }) => success)).toBe(true);
    expect(seen).toEqual([
      ['done', 'ran 1'],
      ['done', 'ran 1'],
    ]);
  });

  it('has no claim for a call that only reads, and one for a call that declares nothing', async () => {
    const path = join(folder(), 'journal.db');
    const looks = defineTool({
      name: 'looks',
      description: 'd',
      input: INPUT,
      effects: () => [{ kind: 'read', path: 'a' }],
      execute: () => 'seen',
    });
    const executor = executorOf([looks, countingTool().tool], { journal: path });
    await executor.run([call('1', 'looks'), call('2', 'count')], { conversation: 'c' });
    const [read, silent] = await look(path, (journal) =>
      Promise.all([journal.find('c', '1'), journal.find('c', '2')]),
    );
    expect(read).toMatchObject({ state: 'done', result: { output: 'seen' } });
    expect(read?.worker).toBeUndefined();
    expect(silent).toMatchObject({ state: 'done', worker: { pid: process.pid } });
  });

  it('holds what was cancelled', async () => {
    const path = join(folder(), 'journal.db');
    const hangs = writer('hangs', () => new Promise(() => {}));
    const executor = executorOf([writer().tool, hangs.tool], { journal: path, approver: null });
    const run = executor.start([call('1', 'hangs'), call('2')], { conversation: 'c' });
    await expect.poll(() => hangs.runs.length).toBe(1);
    run.cancel();
    const results = await run.results;
    expect(results.map(({ error }) => [error?.code, error?.details?.executed])).toEqual([
      ['cancelled', 'maybe'],
      ['cancelled', 'no'],
    ]);
    const record = await look(path, (journal) => journal.find('c', '2'));
    expect(record?.result).toEqual(results[1]);
  });
});

describe('a journal that cannot be written', () => {
  const places: readonly (readonly [string, () => string])[] = [
    ['below a file', () => below(folder())],
    ['where nothing can be made', () => '/proc/toolexec/journal.db'],
    ['that is a folder', () => folder()],
    ['that is something else', () => foreign(folder())],
  ];
  function below(root: string): string {
    writeFileSync(join(root, 'file'), '');
    return join(root, 'file', 'journal.db');
  }
  function foreign(root: string): string {
    writeFileSync(join(root, 'text.db'), 'no database at all, but long enough to be read as one'.repeat(50));
    return join(root, 'text.db');
  }

  it.each(places)('%s lets nothing run, not even what only reads', async (_what, place) => {
    const { tool, runs } = writer();
    const counting = countingTool();
    const executor = executorOf([tool, counting.tool], { journal: place(), approver: null });
    for (const options of [{}, { conversation: 'c' }, {}]) {
      const results = await executor.run([call('1', 'count'), call('2'), call('3', 'ghost')], options);
      expect(codes(results)).toEqual(['journal_unavailable', 'journal_unavailable', 'unknown_tool']);
      expect(results[0]?.error?.details?.executed).toBe('no');
    }
    expect([runs, counting.runs]).toEqual([[], []]);
  });
});

describe('a journal that breaks in the middle', () => {
  const OPERATIONS = ['accept', 'claim', 'finish', 'note'] as const;
  type Operation = (typeof OPERATIONS)[number];

  function breaking(at: Operation, nth: number, how: 'throws' | 'rejects'): Journal {
    const inner = createMemoryJournal();
    let count = 0;
    const outer: Record<string, unknown> = {};
    for (const name of [
      'sync',
      'call',
      'find',
      'batch',
      'unfinished',
      'notes',
      'close',
      ...OPERATIONS,
    ] as const) {
      outer[name] = (...args: never[]) => {
        const asynchronous = how === 'rejects';
        if (name === at && ++count === nth) {
          if (asynchronous) return Promise.reject(new Error('disk full'));
          throw new Error('disk full');
        }
        const answer = (inner[name] as (...args: never[]) => unknown)(...args);
        return asynchronous ? Promise.resolve(answer) : answer;
      };
    }
    return { ...outer, durable: false } as unknown as Journal;
  }

  const cases: readonly (readonly [Operation, number, readonly (string | undefined)[]])[] = [
    ['accept', 1, ['journal_unavailable', 'journal_unavailable', 'journal_unavailable']],
    ['claim', 1, ['journal_unavailable', 'journal_unavailable', 'journal_unavailable']],
    ['claim', 2, [undefined, 'journal_unavailable', 'journal_unavailable']],
    ['finish', 1, [undefined, 'journal_unavailable', 'journal_unavailable']],
    ['finish', 2, [undefined, undefined, 'journal_unavailable']],
    ['note', 1, ['journal_unavailable', 'journal_unavailable', 'journal_unavailable']],
  ];
  it.each(cases.flatMap((row) => (['throws', 'rejects'] as const).map((how) => [...row, how] as const)))(
    'at %s %i: keeps what is known, and starts nothing that it could not account for',
    async (at, nth, expected, how) => {
      const { tool, runs } = writer();
      const journal = breaking(at, nth, how);
      const executor = executorOf([tool], { journal, approver: () => ({ kind: 'approve_all' }) });
      const results = await executor.run([call('1'), call('2'), call('3')]);
      expect(codes(results)).toEqual(expected);
      expect(runs).toHaveLength(expected.filter((code) => code === undefined).length);
    },
  );

  it('does not lose an answer whose record fails last', async () => {
    const { tool } = writer();
    const executor = executorOf([tool], { journal: breaking('finish', 1, 'rejects'), approver: null });
    expect((await executor.run([call('1')]))[0]).toMatchObject({ success: true, output: 'ran 1' });
    expect((await executor.run([call('2')]))[0]?.success).toBe(true);
  });
});

describe('repeated delivery', () => {
  const journals: readonly (readonly [string, () => string | undefined])[] = [
    ['in memory', () => undefined],
    ['in a file', () => join(folder(), 'journal.db')],
  ];

  describe.each(journals)('%s', (_where, place) => {
    const open = (tools: readonly Tool[], asks: 'nobody' | 'no longer' = 'no longer') => {
      const path = place();
      return executorOf(tools, {
        ...(path === undefined ? {} : { journal: path }),
        ...(asks === 'no longer' ? { approver: null } : {}),
      });
    };

    it('runs once and answers from the journal', async () => {
      const { tool, runs } = writer();
      const executor = open([tool]);
      const calls = [call('a', 'writer', { x: 1, y: 2 }), call('g', 'ghost')];
      const first = await executor.run(calls, { conversation: 'c' });
      const again = await executor.run([call('a', 'writer', { y: 2, x: 1 }), call('g', 'ghost')], {
        conversation: 'c',
      });
      expect(runs).toHaveLength(1);
      expect(again).toEqual(
        first.map((result) => ({ ...result, metadata: { ...result.metadata, replayed: true } })),
      );
      const third = await executor.run(calls, { conversation: 'c' });
      expect(third).toEqual(again);
    });

    it('refuses the same id with other arguments or another tool', async () => {
      const { tool, runs } = writer();
      const executor = open([tool, countingTool().tool]);
      await executor.run([call('a')], { conversation: 'c' });
      const other = await executor.run([call('a', 'writer', { x: 1 })], { conversation: 'c' });
      const another = await executor.run([call('a', 'count')], { conversation: 'c' });
      expect(codes([...other, ...another])).toEqual(['duplicate_tool_call_id', 'duplicate_tool_call_id']);
      expect(runs).toHaveLength(1);
    });

    it('runs every delivery where no conversation is named, and in every other conversation', async () => {
      const { tool, runs } = writer();
      const executor = open([tool]);
      for (const options of [{}, {}, { conversation: 'c' }, { conversation: 'd' }]) {
        expect((await executor.run([call('a')], options))[0]?.success).toBe(true);
      }
      expect(runs).toHaveLength(4);
    });

    it('plans again what no person has decided', async () => {
      const { tool, runs } = writer();
      const executor = open([tool], 'nobody');
      const run = (approver?: () => { kind: 'approve_all' | 'deny_all' }) =>
        executor.run([call('a')], { conversation: 'c', ...(approver === undefined ? {} : { approver }) });
      expect(codes(await run())).toEqual(['approval_unavailable']);
      expect(codes(await run())).toEqual(['approval_unavailable']);
      expect((await run(() => ({ kind: 'approve_all' })))[0]).toMatchObject({ success: true, metadata: {} });
      expect((await run())[0]).toMatchObject({ success: true, metadata: { replayed: true } });
      expect(runs).toHaveLength(1);
    });

    it('holds to a denial', async () => {
      const { tool, runs } = writer();
      const executor = open([tool], 'nobody');
      const run = (kind: 'approve_all' | 'deny_all') =>
        executor.run([call('a')], { conversation: 'c', approver: () => ({ kind }) });
      expect(codes(await run('deny_all'))).toEqual(['user_denied']);
      expect((await run('approve_all'))[0]).toMatchObject({
        error: { code: 'user_denied' },
        metadata: { replayed: true },
      });
      expect(runs).toEqual([]);
    });

    it('records what a tool calls replayed like any other result', async () => {
      const tool = defineTool({
        name: 'liar',
        description: 'd',
        input: INPUT,
        effects: () => [],
        execute: () => ({ text: 'x', metadata: { replayed: true } }),
      });
      const journal = createMemoryJournal();
      const executor = executorOf([tool], { journal });
      await executor.run([call('a', 'liar')], { conversation: 'c' });
      expect(await journal.unfinished()).toEqual([]);
    });

    it('waits for what is under way in another batch, and answers the same', async () => {
      const held = heldWriter();
      const executor = open([held.tool]);
      const first = executor.run([call('a')], { conversation: 'c' });
      await expect.poll(() => held.runs.length).toBe(1);
      const second = executor.run([call('a'), call('b')], { conversation: 'c' });
      expect(await Promise.race([second, soon()])).toBe('nothing yet');
      held.release();
      const [told] = await first;
      expect(told).toMatchObject({ success: true, output: 'ran 1' });
      const again = await second;
      expect(again[0]).toEqual({ ...told, metadata: { ...told?.metadata, replayed: true } });
      expect(again[1]).toMatchObject({ success: true, output: 'ran 2' });
      expect(held.runs).toHaveLength(2);
    });

    it('says that nobody knows yet, where it is not to wait any longer', async () => {
      const held = heldWriter();
      const executor = open([held.tool]);
      const first = executor.run([call('a')], { conversation: 'c' });
      await expect.poll(() => held.runs.length).toBe(1);
      const giveUp = new AbortController();
      const second = executor.run([call('a')], { conversation: 'c', signal: giveUp.signal });
      await soon();
      giveUp.abort();
      const unknown = { code: 'outcome_unknown', details: { executed: 'maybe' } };
      expect((await second)[0]?.error).toMatchObject(unknown);
      held.release();
      expect((await first)[0]?.success).toBe(true);
      expect((await executor.run([call('a')], { conversation: 'c' }))[0]).toMatchObject({ success: true });
    });
  });

  it('waits for what is under way in another executor', async () => {
    const path = join(folder(), 'journal.db');
    const held = heldWriter();
    const [one, other] = [0, 1].map(() => executorOf([held.tool], { journal: path, approver: null }));
    const first = one?.run([call('a')], { conversation: 'c' });
    await expect.poll(() => held.runs.length).toBe(1);
    const second = other?.run([call('a')], { conversation: 'c' });
    expect(await Promise.race([second, soon()])).toBe('nothing yet');
    held.release();
    expect((await second)?.[0]).toMatchObject({ ...(await first)?.[0], metadata: { replayed: true } });
    expect(held.runs).toHaveLength(1);
  });
});

/** Its first run continues until it is released. */
function heldWriter() {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { ...writer('writer', () => held), release };
}

function soon(): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, 100, 'nothing yet'));
}

describe('what is not recorded', () => {
  it('a dry run, which answers no later delivery', async () => {
    const { tool, runs } = writer();
    const journal = createMemoryJournal();
    const executor = executorOf([tool], { journal, approver: null });
    const [dry] = await executor.run([call('a')], { conversation: 'c', dryRun: true });
    expect(dry).toMatchObject({ success: true, output: expect.stringMatching(/^\[Dry Run\] /) });
    expect(await journal.find('c', 'a')).toBeUndefined();
    expect((await executor.run([call('a')], { conversation: 'c' }))[0]?.output).toBe('ran 1');
    expect(runs).toHaveLength(1);
  });

  it('anything, with journal: false', async () => {
    const { tool, runs } = writer();
    const executor = executorOf([tool], { journal: false, approver: null });
    await executor.run([call('a')], { conversation: 'c' });
    await executor.run([call('a')], { conversation: 'c' });
    expect(runs).toHaveLength(2);
  });

  it('a plan, and a call in a mode that runs none', async () => {
    const root = folder();
    mkdirSync(join(root, 'work'));
    const journal = join(root, 'state', 'journal.db');
    const executor = executorOf([writer().tool], { root: join(root, 'work'), journal, mode: 'parse_only' });
    await executor.plan([call('a')]);
    await executor.run([call('a')]);
    await executor.close();
    expect(await import('node:fs').then(({ existsSync }) => existsSync(journal))).toBe(false);
  });
});
