import { describe, expect, it } from 'vitest';
import { runProgram } from '../fixtures/run-program.js';

describe('nothing is left behind', () => {
  it('in memory, over 100,000 calls', { timeout: 180_000 }, async () => {
    const { code, stdout, stderr } = await runProgram(
      `
      const tools = [
        probeTool('ok', () => 'fine'),
        probeTool('async', async () => ({ text: 'fine', metadata: { n: 1 } })),
        probeTool('throws', () => { throw new Error('x'); }),
        probeTool('context', (_, ctx) => { ctx.emit('x'); return String(ctx.signal.aborted) + ctx.cwd.length + typeof ctx.files; }),
        probeTool('writes', () => 'x', { effects: () => [{ kind: 'write', path: 'x' }] }),
      ];
      const executor = createExecutor({ policy: null, tools });
      const { signal } = new AbortController();
      const calls = callsOf('ok', 'async', 'throws', 'context', 'writes', 'lost', 'ok', 'ok');
      const work = async (batches) => {
        for (let batch = 0; batch < batches; batch++) {
          if (batch % 10 === 0) {
            const run = executor.start(calls, { signal });
            if (batch % 20 === 0) for await (const _ of run.events) {}
            await run.results;
          } else if (batch % 3 === 0) await executor.run(calls, { signal, parallel: true });
          else await executor.run(calls, { signal, ...(batch % 7 === 0 ? { conversation: 'c' + batch } : {}) });
        }
        globalThis.gc(); await pause(10); globalThis.gc();
        return process.memoryUsage().heapUsed;
      };
      // The stores that grow on purpose (journal, conversations) are full after some thousand batches.
      await work(8_000);
      const before = await work(500);
      const after = await work(12_500);
      console.log(Math.round((after - before) / 1024));
      await executor.close();
    `,
      ['--expose-gc'],
    );
    expect(stderr).toBe('');
    expect(code).toBe(0);
    // 100,000 calls: 40 bytes each would be 4 MB.
    expect(Number(stdout)).toBeLessThan(3_000);
  });
});
