import { AssertionError } from 'node:assert';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Middleware } from '../../contract/context.js';
import type { Executor, RunOptions } from '../../contract/executor.js';
import type { Tool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';
import { callsOf, probeTool } from '../fixtures/probe-tool.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ policy: null, approver: null, tools, ...options });
  opened.push(executor);
  return executor;
}

const ok = probeTool('ok', () => 'fine');
const hostileProxy = new Proxy(
  {},
  {
    get() {
      throw new Error('trap');
    },
    getPrototypeOf() {
      throw new Error('trap');
    },
    ownKeys() {
      throw new Error('trap');
    },
  },
);

class HostileText {
  toString(): string {
    throw new Error('no text');
  }
  toJSON(): string {
    throw new Error('no json');
  }
}

class NotFound extends Error {
  override readonly name = 'NotFound';
}
class Underflow extends RangeError {
  override readonly name = 'Underflow';
}

/** A thrown value that reports a failure of the tool, and the whole message. */
const FAILURES: readonly (readonly [label: string, value: unknown, message: string])[] = [
  ['an Error', new Error('City not found'), 'bad failed: City not found'],
  ['a subclass of Error', new NotFound('no such city'), 'bad failed: no such city'],
  ['an Error of another realm', runInNewContext('new Error("far away")'), 'bad failed: far away'],
  ['an Error without a message', new Error(), 'bad failed: Error'],
  [
    'an Error with nothing but a code',
    Object.assign(new Error(), { code: 'ECONNRESET' }),
    'bad failed: ECONNRESET',
  ],
  ['several Errors at once', new AggregateError([new Error('one'), 'two']), 'bad failed: one; two'],
  ['an aborted signal', AbortSignal.abort().reason, 'bad failed: This operation was aborted'],
  ['a malformed URI', new URIError('URI malformed'), 'bad failed: URI malformed'],
  ['an Error whose message is no text', Object.assign(new Error('x'), { message: 5 }), 'bad failed: Error'],
  ['an Error whose message is JSON', new Error('{"status":404}'), '{"status":404}'],
];

/** A thrown value that reports a programming error, and the part of it that the message must contain. */
const THROWN: readonly (readonly [label: string, value: unknown, told: string])[] = [
  ['a TypeError', new TypeError('x is not a function'), 'Tool panicked: x is not a function'],
  ['a ReferenceError', new ReferenceError('y is not defined'), 'Tool panicked: y is not defined'],
  ['a RangeError', new RangeError('Invalid array length'), 'Tool panicked: Invalid array length'],
  ['a subclass of RangeError', new Underflow('too little'), 'Tool panicked: too little'],
  ['a SyntaxError', new SyntaxError('Unexpected token'), 'Tool panicked: Unexpected token'],
  ['a TypeError of another realm', runInNewContext('new TypeError("far away")'), 'Tool panicked: far away'],
  ['an assertion that does not hold', new AssertionError({ message: '1 == 2' }), 'Tool panicked: 1 == 2'],
  [
    'an Error that came by mail as a TypeError',
    Object.assign(new Error('m'), { name: 'TypeError' }),
    'Tool panicked: m',
  ],
  ['an Error without a message', new TypeError(''), 'Tool panicked: TypeError'],
  ['a text', 'plain text', 'Tool panicked: plain text'],
  ['null', null, 'Tool panicked: null'],
  ['undefined', undefined, 'Tool panicked: undefined'],
  ['a number', 42, 'Tool panicked: 42'],
  ['a bigint', 7n, 'Tool panicked: 7'],
  ['a symbol', Symbol('sign'), 'Tool panicked: Symbol(sign)'],
  ['an object', { why: 'because' }, 'Tool panicked: {"why":"because"}'],
  ['an object that is like an error', { message: 'from elsewhere' }, 'Tool panicked: from elsewhere'],
  ['a proxy that throws', hostileProxy, 'Tool panicked: '],
  ['an object whose texts throw', new HostileText(), 'Tool panicked: '],
  ['a function', () => 1, 'Tool panicked: '],
];

describe('a tool that throws', () => {
  for (const [label, value, message] of FAILURES) {
    it(`has failed when it throws ${label}`, async () => {
      const bad = probeTool('bad', () => Promise.reject(value));
      const result = await executorOf([bad]).execute('bad', {});
      expect(result.error).toMatchObject({ code: 'execution_failed', message, details: { executed: 'yes' } });
    });
  }

  it('has the thrown value as the cause of the error of invoke(), even behind middleware and limits', async () => {
    const thrown = new Error('City not found');
    const refused = new ToolError('stale_file', 'Read it again.');
    const tools = [
      probeTool('bad', () => Promise.reject(thrown)),
      probeTool('stale', () => Promise.reject(refused)),
      probeTool('text', () => Promise.reject('only a text')),
      probeTool('answers', () => ({ text: '', error: { message: 'no' } })),
    ];
    const copying: Middleware = async (_call, _context, next) => ({ ...(await next()), metadata: { n: 1 } });
    for (const middleware of [[], [copying]]) {
      const executor = executorOf(tools, { middleware });
      const causeOf = (name: string, options?: RunOptions): Promise<unknown> =>
        executor.invoke(name, {}, options).then(
          () => 'no error',
          (error: unknown) => (error as ToolError).cause,
        );
      expect(await causeOf('bad')).toBe(thrown);
      expect(await causeOf('bad', { availableCapacityBytes: 5 })).toBe(thrown);
      expect(await causeOf('stale')).toBe(refused);
      expect(await causeOf('text')).toBe('only a text');
      expect(await causeOf('answers')).toBeUndefined();
    }
  });

  it('gives the hint of its ToolError, with secrets redacted, and so does invoke()', async () => {
    const key = `sk-ant-${'a1B2'.repeat(12)}`;
    const executor = executorOf([
      probeTool('bad', () => {
        throw new ToolError('policy_denied', 'Not allowed.', { hint: `Ask the owner of ${key}.` });
      }),
    ]);
    const hint = 'Ask the owner of [REDACTED].';
    expect(await executor.execute('bad', {})).toMatchObject({ error: { message: 'Not allowed.', hint } });
    await expect(executor.invoke('bad', {})).rejects.toMatchObject({ code: 'policy_denied', hint });
  });

  for (const [label, value, told] of THROWN) {
    for (const how of ['throws', 'rejects with'] as const) {
      it(`is answered when it ${how} ${label}, and the batch continues`, async () => {
        const bad = probeTool('bad', () => {
          if (how === 'throws') throw value;
          return Promise.reject(value);
        });
        const results = await executorOf([bad, ok]).run(callsOf('bad', 'ok'));
        expect(results.map(({ callId }) => callId)).toEqual(['c0', 'c1']);
        const [first, second] = results;
        expect(first?.error?.code).toBe('tool_panicked');
        expect(first?.error?.message.startsWith(told)).toBe(true);
        expect(first?.error?.details?.executed).toBe('yes');
        expect(second?.success).toBe(true);
      });
    }
  }

  it('tells a bounded part of a message of 1 MB, without controls and without half a character', async () => {
    const long = `\u001b[31mred\u001b[0m${'😀'.repeat(250_000)}`;
    const bad = probeTool('bad', () => {
      throw new TypeError(long);
    });
    const [result] = await executorOf([bad]).run(callsOf('bad'));
    const message = result?.error?.message ?? '';
    expect(message.startsWith('Tool panicked: red😀')).toBe(true);
    expect(Buffer.byteLength(message)).toBeLessThan(5_000);
    expect(Buffer.from(message).toString()).toBe(message);
    expect(message).not.toContain('\u001b');
  });

  it('tells no secret by the name of a member, of metadata, structured output or details', async () => {
    process.env.PANIC_API_KEY = 'sk-verysecretvalue-0123456789';
    try {
      const secret = 'sk-verysecretvalue-0123456789';
      const named = { [secret]: 1, [`x ${secret}`]: [{ [secret]: 2 }], plain: 3 };
      const talks = probeTool('talks', () => ({ text: 'ok', metadata: named, structured: named }));
      const fails = probeTool('fails', () => {
        throw new ToolError('execution_failed', 'no', { details: named });
      });
      const results = await executorOf([talks, fails]).run(callsOf('talks', 'fails'));
      expect(JSON.stringify(results)).not.toContain('verysecret');
      const [talked] = results;
      expect(talked?.structured).toEqual({
        '[REDACTED]': 1,
        'x [REDACTED]': [{ '[REDACTED]': 2 }],
        plain: 3,
      });
      expect(Object.keys(talked?.metadata ?? {})).toEqual(['[REDACTED]', 'x [REDACTED]', 'plain', 'origin']);
    } finally {
      delete process.env.PANIC_API_KEY;
    }
  });

  it('does not reveal half of a secret where the message is cut', async () => {
    process.env.PANIC_API_KEY = 'sk-verysecretvalue-0123456789';
    try {
      for (const before of [960, 975, 985, 990, 995, 2_000]) {
        const bad = probeTool('bad', () => {
          throw new TypeError(`${'x'.repeat(before)} sk-verysecretvalue-0123456789 ${'y'.repeat(3_000)}`);
        });
        const [result] = await executorOf([bad]).run(callsOf('bad'));
        expect(result?.error?.message).not.toContain('sk-very');
      }
    } finally {
      delete process.env.PANIC_API_KEY;
    }
  });
});

describe('a tool that throws a ToolError', () => {
  async function failureOf(error: unknown, options: ExecutorOptions = {}) {
    const bad = probeTool('bad', () => {
      throw error;
    });
    const [result] = await executorOf([bad], options).run(callsOf('bad'));
    return result;
  }

  it('prefixes the message of execution_failed with its name, and of no other code', async () => {
    const failed = await failureOf(
      new ToolError('execution_failed', 'disk full', { details: { errno: 'ENOSPC' } }),
    );
    expect(failed?.error).toEqual({
      code: 'execution_failed',
      message: 'bad failed: disk full',
      details: { errno: 'ENOSPC', executed: 'yes' },
    });
    const stale = await failureOf(new ToolError('stale_file', 'it changed'));
    expect(stale?.error?.message).toBe('it changed');
    expect(stale?.error?.code).toBe('stale_file');
  });

  it('hands on a JSON object byte for byte, without marker, even above the limit', async () => {
    const json = ` {"error":"\\u001b[31m","list":["${'a'.repeat(5_000)}"],"n":1.50, "b":{}}\n`;
    const failed = await failureOf(new ToolError('execution_failed', json), { output: { maxBytes: 100 } });
    expect(failed?.error?.message).toBe(json);
    expect(failed?.truncated).toBe(false);
  });

  it('revealed a secret in a message that was a JSON object', async () => {
    vi.stubEnv('PANIC_API_KEY', 'sk-verysecretvalue-0123456789');
    onTestFinished(() => void vi.unstubAllEnvs());
    const failed = await failureOf(
      new ToolError('execution_failed', '{"key": "sk-verysecretvalue-0123456789", "n":1.50}'),
    );
    expect(failed?.error?.message).toBe('{"key": "[REDACTED]", "n":1.50}');
  });

  it('treats a JSON array, or a JSON object with something after it, as text', async () => {
    expect((await failureOf(new ToolError('execution_failed', '[1]')))?.error?.message).toBe(
      'bad failed: [1]',
    );
    expect((await failureOf(new ToolError('execution_failed', '{} x')))?.error?.message).toBe(
      'bad failed: {} x',
    );
  });

  it('believes no code that the catalogue does not hold', async () => {
    const made = new ToolError('execution_failed', 'odd');
    Object.defineProperty(made, 'code', { value: 'no_such_code' });
    const failed = await failureOf(made);
    expect(failed?.error?.code).toBe('execution_failed');
    expect(failed?.error?.message).toBe('bad failed: odd');
  });

  it('is answered when its message or details are hostile', async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const made = new ToolError('execution_failed', 'x', { details: cycle });
    expect((await failureOf(made))?.error?.details?.executed).toBe('yes');
    const odd = new ToolError('execution_failed', 'x', {
      details: { big: 1n, when: new Date(0), f: () => 1 },
    });
    const told = await failureOf(odd);
    expect(() => JSON.stringify(told)).not.toThrow();
    const noText = Object.assign(new ToolError('bad_args', 'x'), { message: Symbol('m') });
    expect((await failureOf(noText))?.success).toBe(false);
    const noDetails = Object.assign(new ToolError('bad_args', 'x'), { details: null });
    expect((await failureOf(noDetails))?.error?.code).toBe('bad_args');
  });
});

function getterThatThrows(key: string): object {
  return Object.defineProperty({ text: 'x' }, key, {
    enumerable: true,
    get() {
      throw new Error('getter');
    },
  });
}

type Then = (done: (value: unknown) => void, fail: (error: unknown) => void) => void;

function thenable(call: Then): object {
  return Object.defineProperty({}, 'then', { value: call });
}

function textThatChanges(): object {
  let asked = 0;
  return Object.defineProperty({}, 'text', { enumerable: true, get: () => (asked++ === 0 ? 'first' : 5) });
}

describe('a tool that returns something else than a text, a value or an output', () => {
  const RETURNED: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['{ text: 5 }', { text: 5 }],
    ['a symbol', Symbol('x')],
    ['a function', () => 'x'],
    ['metadata that is a list', { text: 'x', metadata: ['a'] }],
    ['an error without a message', { text: 'x', error: {} }],
    ['an error of an unknown code', { text: 'x', error: { message: 'm', code: 'nope' } }],
  ];
  for (const [label, value] of RETURNED) {
    it(`answers invalid_tool_output for ${label}`, async () => {
      const results = await executorOf([probeTool('odd', () => value), ok]).run(callsOf('odd', 'ok'));
      expect(results[0]?.error?.code).toBe('invalid_tool_output');
      expect(results[0]?.error?.details?.executed).toBe('yes');
      expect(results[1]?.success).toBe(true);
    });
  }

  const HOSTILE: readonly (readonly [string, () => unknown])[] = [
    ['a proxy that throws', () => hostileProxy],
    ['a text getter that throws', () => getterThatThrows('text')],
    ['a metadata getter that throws', () => getterThatThrows('metadata')],
    ['a then getter that throws', () => getterThatThrows('then')],
    ['an error getter that throws', () => getterThatThrows('error')],
    ['metadata whose values throw', () => ({ text: 'x', metadata: getterThatThrows('inner') })],
    [
      'a thenable that throws',
      () =>
        thenable(() => {
          throw new Error('then');
        }),
    ],
  ];
  for (const [label, value] of HOSTILE) {
    it(`answers a failure for ${label}`, async () => {
      const results = await executorOf([probeTool('odd', value), ok]).run(callsOf('odd', 'ok'));
      expect(results[0]?.success).toBe(false);
      expect(['invalid_tool_output', 'execution_failed']).toContain(results[0]?.error?.code);
      expect(results[0]?.error?.details?.executed).toBe('yes');
      expect(results[1]?.success).toBe(true);
    });
  }

  it('answers once whatever a text getter says the second time', async () => {
    const [result] = await executorOf([probeTool('odd', textThatChanges, { timeoutMs: 2_000 })]).run(
      callsOf('odd'),
    );
    expect(result?.error?.code).not.toBe('timeout');
  });

  it('answers for metadata that refers to itself, and keeps what the tool said', async () => {
    const metadata: Record<string, unknown> = { a: 1 };
    metadata.self = metadata;
    const odd = probeTool('odd', () => ({ text: 'said', metadata }), { timeoutMs: 2_000 });
    const [result] = await executorOf([odd]).run(callsOf('odd'));
    expect(result?.error?.code).toBe('invalid_tool_output');
    expect(() => JSON.stringify(result)).not.toThrow();
  });

  it('makes metadata JSON', async () => {
    const metadata = {
      big: 12n,
      nan: Number.NaN,
      when: new Date(0),
      f: () => 1,
      u: undefined,
      s: Symbol('x'),
      list: [undefined, 1n],
    };
    const odd = probeTool('odd', () => ({ text: 'said', metadata }));
    const [result] = await executorOf([odd]).run(callsOf('odd'));
    expect(result?.success).toBe(true);
    expect(result?.metadata).toEqual({
      big: '12',
      nan: null,
      when: '1970-01-01T00:00:00.000Z',
      list: [null, '1'],
      origin: ['user'],
    });
  });

  it('believes a thenable that calls back twice the first time, and waits for none that never does', async () => {
    const twice = probeTool('twice', () =>
      thenable((done, fail) => {
        done('first');
        done('second');
        fail(new Error('third'));
      }),
    );
    const never = probeTool('never', () => thenable(() => {}), { timeoutMs: 50 });
    const results = await executorOf([twice, never]).run(callsOf('twice', 'never'));
    expect(results[0]?.output).toBe('first');
    expect(results[1]?.error?.message).toBe('never timed out after 50ms');
  });
});

describe('a returned error', () => {
  it('is a failure that keeps the output, and is not prefixed', async () => {
    const bad = probeTool('bad', () => ({
      text: 'what it printed',
      error: { message: '3 tests failed' },
      metadata: { n: 3 },
    }));
    const [result] = await executorOf([bad]).run(callsOf('bad'));
    expect(result).toMatchObject({
      success: false,
      output: 'what it printed',
      error: { code: 'execution_failed', message: '3 tests failed', details: { executed: 'yes' } },
      metadata: { n: 3 },
    });
  });

  it('passes a JSON object untouched as well', async () => {
    const json = `{"e":"\u001b[1m${'z'.repeat(500)}"}`.replace('\u001b', '\\u001b');
    const bad = probeTool('bad', () => ({ text: '', error: { message: json } }));
    const [result] = await executorOf([bad], { output: { maxBytes: 50 } }).run(callsOf('bad'));
    expect(result?.error?.message).toBe(json);
    expect(result?.truncated).toBe(false);
  });
});

describe('the texts that a model learns from', () => {
  it('are these, for what the sandbox refuses and for what takes too long', async () => {
    const hang = probeTool('hang', () => new Promise(() => {}), { timeoutMs: 30 });
    const executor = createExecutor({ root: '/tmp', tools: [...builtinTools(), hang], policy: null });
    const paths = ['../etc/passwd', '/etc/passwd', '.env'];
    const calls = paths.map((path, index) => ({ id: `${index}`, name: 'read_file', args: { path } }));
    const results = await executor.run([...calls, { id: 'hang', name: 'hang', args: {} }]);
    await executor.close();
    expect(results.map(({ error }) => error?.message)).toEqual([
      'Cannot use "../etc/passwd": a ".." component is never followed. Use a path inside the root "/tmp".',
      'Cannot use "/etc/passwd": absolute paths are not allowed here. Use a path inside the root "/tmp".',
      'Cannot use ".env": "/tmp/.env" matches the denied pattern "**/.env". Use another path.',
      'hang timed out after 30ms',
    ]);
  });
});
