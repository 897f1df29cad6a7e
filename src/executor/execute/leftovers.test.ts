import { describe, expect, it } from 'vitest';
import { runProgram } from '../fixtures/run-program.js';

const TOOLS = `
const tools = [
  probeTool('ok', () => 'fine'),
  probeTool('slow', () => pause(3)),
  probeTool('throws', () => { throw new Error('x'); }),
  probeTool('rejects', () => Promise.reject(null)),
  probeTool('hangs', () => NEVER, { timeoutMs: 15 }),
  probeTool('listens', (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('stopped'))), { timeoutMs: 15 }),
  probeTool('strays', () => { setTimeout(() => { throw new Error('stray'); }, 1); return 'x'; }),
  probeTool('command', async (args, ctx) => (await ctx.processes.run({ shell: 'bash', command: String(args.command) })).stdout.head, { effects: () => [{ kind: 'unknown' }], timeoutMs: 400 }),
  probeTool('leaves', (_, ctx) => { void ctx.processes.run({ shell: 'bash', command: 'sleep 77' }).catch(() => {}); return 'x'; }, { effects: () => [{ kind: 'unknown' }] }),
  probeTool('writes', async (_, ctx) => { await ctx.files.write('f.txt', Buffer.from('x'), { mode: 'overwrite' }); return 'x'; }, { effects: () => [{ kind: 'write', path: 'f.txt' }] }),
  probeTool('asks', () => 'x', { requiresApproval: true }),
];
`;

describe('nothing is left behind', () => {
  it('after many mixed batches and close()', { timeout: 180_000, tags: ['soak'] }, async () => {
    const { code, stdout, stderr } = await runProgram(
      `
      import { readdirSync, readFileSync } from 'node:fs';
      import { getEventListeners } from 'node:events';
      ${TOOLS}
      const count = (list) => list.reduce((sum, name) => ({ ...sum, [name]: (sum[name] ?? 0) + 1 }), {});
      // Beside the two processes that start commands and watch over them until this program ends.
      const children = () => readFileSync(\`/proc/\${process.pid}/task/\${process.pid}/children\`, 'utf8').trim().split(' ').filter(Boolean).filter((pid) => !/esbuild|toolexec-(supervisor|pipes-)/.test(readFileSync(\`/proc/\${pid}/cmdline\`, 'utf8'))).length;
      const state = () => ({ resources: count(process.getActiveResourcesInfo()), listeners: count(process.eventNames().flatMap((name) => Array(process.listenerCount(name)).fill(String(name)))), fds: readdirSync('/proc/self/fd').length, children: children() });
      const work = async (journal) => {
        const executor = createExecutor({ policy: null, tools, journal, limits: { maxToolCallsPerBatch: 100 }, approver: () => ({ kind: 'approve_all' }) });
        const { signal } = new AbortController();
        const names = ['ok', 'slow', 'throws', 'rejects', 'hangs', 'listens', 'strays', 'leaves', 'writes', 'asks', 'lost'];
        for (let round = 0; round < 1; round++) {
          await executor.run(callsOf(...names), { signal });
          await executor.run(callsOf(...names), { signal, parallel: true });
          await executor.run([{ id: 'a', name: 'command', args: { command: 'echo x' } }, { id: 'b', name: 'command', args: { command: 'sleep 66 & sleep 65' } }], { signal });
          await Promise.all(Array.from({ length: 20 }, () => executor.run(callsOf('ok', 'slow', 'hangs'), { signal })));
          const run = executor.start(callsOf('slow', 'hangs', 'command', 'ok'), { signal });
          for await (const event of run.events) if (event.type === 'started') { run.cancel(); break; }
          await run.results;
          const controller = new AbortController();
          const cancelled = executor.run([{ id: 'z', name: 'command', args: { command: 'sleep 55' } }], { signal: controller.signal });
          setTimeout(() => controller.abort(), 100);
          await cancelled;
        }
        const unfinished = executor.run([{ id: 'y', name: 'command', args: { command: 'sleep 44' } }, { id: 'x', name: 'hangs', args: {} }]);
        await pause(50);
        await executor.close();
        await unfinished;
        return getEventListeners(signal, 'abort').length;
      };
      await work(undefined);
      await pause(100);
      const before = state();
      const left = await work(undefined) + await work('journal.db');
      await pause(500);
      // The SQLite driver lets go of a closed file with its last statement.
      globalThis.gc();
      await pause(100);
      console.log(JSON.stringify({ left, before, after: state() }));
    `,
      ['--expose-gc'],
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { left, before, after } = JSON.parse(stdout) as { left: number; before: unknown; after: unknown };
    expect(left).toBe(0);
    expect(after).toEqual(before);
    expect(after).toMatchObject({ children: 0 });
  });
});
