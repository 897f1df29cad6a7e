import { describe, expect, it } from 'vitest';
import { createExecutor } from '../create-executor.js';
import { callsOf, NEVER, pause, probeTool } from '../fixtures/probe-tool.js';
import { runProgram } from '../fixtures/run-program.js';

const LONG = 60_000;
const ok = probeTool('ok', () => 'fine');

describe('what a tool throws outside of its call', () => {
  async function run(execute: Parameters<typeof probeTool>[1], timeoutMs = 5_000) {
    await using executor = createExecutor({
      policy: null,
      tools: [probeTool('stray', execute, { timeoutMs }), ok],
    });
    return await executor.run(callsOf('stray', 'ok'));
  }

  it('answers the call that waits: a throw from a timer', async () => {
    const [first, second] = await run(() => {
      setTimeout(() => {
        throw new Error('from a timer');
      }, 5);
      return NEVER;
    });
    expect(first?.error).toEqual({
      code: 'tool_panicked',
      message: 'Tool panicked: from a timer',
      details: { executed: 'yes' },
    });
    expect(second?.success).toBe(true);
  });

  it('answers the call that waits: a rejection that nobody handles', async () => {
    const [first] = await run(async () => {
      void Promise.reject(new Error('floating'));
      await pause(2_000);
      return 'too late';
    });
    expect(first?.error?.message).toBe('Tool panicked: floating');
  });

  it('answers the call that waits: hostile values', async () => {
    for (const value of [undefined, null, Symbol('s'), { toString: null }]) {
      const [first, second] = await run(() => {
        setImmediate(() => {
          throw value;
        });
        return NEVER;
      });
      expect(first?.error?.code).toBe('tool_panicked');
      expect(second?.success).toBe(true);
    }
  });

  it('changes nothing after the answer', async () => {
    const [first, second] = await run(() => {
      setTimeout(() => {
        throw new Error('late throw');
      }, 10);
      setTimeout(() => void Promise.reject(new Error('late rejection')), 20);
      return 'answered';
    });
    expect(first?.output).toBe('answered');
    expect(second?.success).toBe(true);
    // The test runner would report an error that is not caught.
    await pause(60);
  });

  it('is held back in listeners for its signal, and in a thenable that it returns', async () => {
    const [first] = await run((_, ctx) => {
      ctx.signal.addEventListener('abort', () => {
        throw new Error('in a listener');
      });
      return NEVER;
    }, 30);
    expect(first?.success).toBe(false);
    const [second] = await run(() =>
      Object.defineProperty({}, 'then', {
        value: () => {
          setTimeout(() => {
            throw new Error('in a thenable');
          }, 5);
        },
      }),
    );
    expect(second?.error?.message).toBe('Tool panicked: in a thenable');
    await pause(30);
  });

  it('is held back when middleware lets go of next()', async () => {
    const bad = probeTool('bad', () => {
      throw new Error('boom');
    });
    await using executor = createExecutor({
      policy: null,
      tools: [bad],
      middleware: [
        async (_call, _context, next) => {
          const first = next();
          void next();
          void next();
          return first;
        },
        async (_call, _context, next) => {
          void next();
          throw new Error('a middleware that throws');
        },
      ],
    });
    const [result] = await executor.run(callsOf('bad'));
    expect(result?.error?.message).toBe('Middleware panicked: a middleware that throws');
    await pause(20);
  });
});

describe('the process', () => {
  it('survives unhandled errors of tools, even after close, and host handlers do not receive them', {
    timeout: LONG,
  }, async () => {
    const { code, stdout, stderr } = await runProgram(`
      process.on('uncaughtException', () => { console.log('HEARD'); process.exit(9); });
      process.on('unhandledRejection', () => { console.log('HEARD'); process.exit(8); });
      const stray = probeTool('stray', () => {
        setTimeout(() => { throw new Error('one'); }, 20);
        setTimeout(() => { Promise.reject(new Error('two')); }, 30);
        setTimeout(() => { throw new Error('three'); }, 300);
        setTimeout(() => { Promise.reject(undefined); }, 310);
        return 'answered';
      });
      const executor = createExecutor({ policy: null, tools: [stray] });
      const [result] = await executor.run(callsOf('stray'));
      await pause(100);
      await executor.close();
      await pause(500);
      console.log(result.output, process.listenerCount('uncaughtException'));
    `);
    expect({ code, stdout: stdout.trim(), stderr }).toEqual({ code: 0, stdout: 'answered 1', stderr: '' });
  });

  const IDLE = `
    const executor = createExecutor({ policy: null, tools: [probeTool('ok', () => 'fine'), probeTool('hang', () => NEVER)] });
    await executor.run(callsOf('ok'));
    void executor.run(callsOf('hang'));
  `;

  it('ends with code 1 when the host program throws, as without us', {
    tags: ['soak'],
    timeout: LONG,
  }, async () => {
    const { code, stdout, stderr } = await runProgram(`${IDLE}
      setTimeout(() => { throw new Error('of the host'); }, 20);
      setTimeout(() => console.log('still here'), 400);
    `);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('Error: of the host');
  });

  it('ends with code 1 when the host program leaves a rejection', {
    tags: ['soak'],
    timeout: LONG,
  }, async () => {
    const { code, stdout, stderr } = await runProgram(`${IDLE}
      setTimeout(() => { Promise.reject(new Error('of the host')); }, 20);
      setTimeout(() => console.log('still here'), 400);
    `);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('of the host');
  });

  it("ends with code 1 for a rejection without an Error, with Node's own words", {
    tags: ['soak'],
    timeout: LONG,
  }, async () => {
    const { code, stderr } = await runProgram(`${IDLE}
      setTimeout(() => { Promise.reject('just text'); }, 20);
      setTimeout(() => console.log('still here'), 400);
    `);
    expect(code).toBe(1);
    expect(stderr).toContain('ERR_UNHANDLED_REJECTION');
  });

  it('obeys --unhandled-rejections', { tags: ['soak'], timeout: LONG }, async () => {
    const { code, stdout, stderr } = await runProgram(
      `${IDLE}
      setTimeout(() => { Promise.reject(new Error('of the host')); }, 20);
      setTimeout(() => { console.log('still here'); process.exit(0); }, 200);
    `,
      ['--unhandled-rejections=warn'],
    );
    expect([code, stdout]).toEqual([0, 'still here\n']);
    expect(stderr).toContain('UnhandledPromiseRejectionWarning');
  });

  it("lets the host program's handlers receive its own errors", { timeout: LONG }, async () => {
    const { code, stdout } = await runProgram(`
      const heard = [];
      process.on('uncaughtException', (error, origin) => heard.push(origin + ':' + error.message));
      process.on('unhandledRejection', (error) => heard.push('rejection:' + error.message));
      ${IDLE}
      setTimeout(() => { throw new Error('a'); }, 20);
      setTimeout(() => { Promise.reject(new Error('b')); }, 30);
      setTimeout(() => { console.log(heard.join(' ')); process.exit(0); }, 200);
    `);
    expect([code, stdout.trim()]).toEqual([0, 'uncaughtException:a rejection:b']);
  });

  it('ends by itself when everything is answered, closed or not', { timeout: LONG }, async () => {
    const { code, stdout } = await runProgram(`
      const executor = createExecutor({ policy: null, tools: [probeTool('hang', () => NEVER, { timeoutMs: 50 }), probeTool('ok', () => 'fine')] });
      const results = await executor.run(callsOf('hang', 'ok'));
      console.log(results.map((r) => r.error?.code ?? r.output).join(' '));
    `);
    expect([code, stdout.trim()]).toEqual([0, 'timeout fine']);
  });
});
