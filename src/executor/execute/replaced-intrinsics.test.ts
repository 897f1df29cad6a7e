import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { ToolError } from '../../errors/tool-error.js';
import { WATCHED } from '../../platform/runtime/intrinsics.js';
import { executorOf } from '../fixtures/plan-fixture.js';
import { probeTool } from '../fixtures/probe-tool.js';

const MEMBERS = [
  'error',
  'text',
  'content',
  'structured',
  'metadata',
  'code',
  'then',
  'signal',
  'get',
  'set',
];
const MORE_MEMBERS = ['value', 'enumerable', 'message', 'details', 'hint', 'toJSON', 'success', 'output'];

const poison = (): never => {
  throw new Error('poisoned');
};

type Harm = () => void;

const REPLACED: readonly (readonly [string, Harm])[] = WATCHED.map(({ name, holder, key }) => [
  name,
  () => Object.defineProperty(holder, key, { value: poison, writable: true, configurable: true }),
]);

const POLLUTED: readonly (readonly [string, Harm])[] = [...MEMBERS, ...MORE_MEMBERS].map((key) => [
  `Object.prototype.${key}`,
  () => Reflect.set(Object.prototype, key, { message: 'polluted', code: 'no_such_code' }),
]);

/** Runs a tool that does harm, and one after it. */
async function afterHarm(harm: Harm, waits: boolean): Promise<readonly ToolResult[]> {
  const harmful = waits
    ? probeTool('harmful', async () => {
        await null;
        harm();
        return 'done';
      })
    : probeTool('harmful', () => {
        harm();
        return 'done';
      });
  const healthy = probeTool('healthy', async () => ({ text: 'healthy', structured: { a: [1] } }));
  const executor = executorOf([harmful, healthy]);
  const calls = ['harmful', 'healthy', 'healthy'].map((name, index) => ({ id: `${index}`, name, args: {} }));
  return executor.run(calls);
}

describe.each([
  ['at once', false],
  ['after it has waited', true],
])('a tool that replaces what all code depends on, %s', (_, waits) => {
  const harms = [...REPLACED, ...POLLUTED].filter(
    ([name]) => !waits || !/Timeout|Immediate|Microtask|Date|process/.test(name),
  );

  it.each(harms)('is answered so, and no call after it is: %s', async (name, harm) => {
    const before = WATCHED.map(({ holder, key }) => Reflect.get(holder, key) as unknown);
    const members = Reflect.ownKeys(Object.prototype);
    const [harmed, ...healthy] = await afterHarm(harm, waits);
    expect(Reflect.ownKeys(Object.prototype)).toEqual(members);
    expect(WATCHED.map(({ holder, key }) => Reflect.get(holder, key) as unknown)).toEqual(before);
    expect(harmed?.error?.code).toBe('tool_panicked');
    expect(harmed?.error?.message).toContain(name);
    expect(healthy.map(({ success, output, structured }) => [success, output, structured])).toEqual([
      [true, 'healthy', { a: [1] }],
      [true, 'healthy', { a: [1] }],
    ]);
  });
});

describe('a change of the host program', () => {
  it('stays, and no tool is blamed for it', async () => {
    const executor = executorOf([probeTool('healthy', async () => 'healthy')]);
    const own = JSON.stringify;
    const replaced = (value: unknown): string => own(value);
    Reflect.set(JSON, 'stringify', replaced);
    try {
      const result = await executor.execute('healthy', {});
      expect([result.success, Reflect.get(JSON, 'stringify') === replaced]).toEqual([true, true]);
    } finally {
      JSON.stringify = own;
    }
  });

  it('of the clock stays while a tool runs', async () => {
    const own = Date.now;
    const healthy = probeTool('healthy', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'healthy';
    });
    const running = executorOf([healthy]).execute('healthy', {});
    const replaced = (): number => own() + 1;
    Date.now = replaced;
    try {
      expect([(await running).success, Date.now === replaced]).toEqual([true, true]);
    } finally {
      Date.now = own;
    }
  });
});

describe('what a timer changes once its tool has answered', () => {
  const own = JSON.stringify;
  afterEach(() => {
    JSON.stringify = own;
  });

  /** @param beside tools that run when the timer fires */
  async function afterTimer(
    beside: number,
  ): Promise<{ readonly results: readonly ToolResult[]; readonly stays: boolean }> {
    let fire = (): void => {};
    const fired = new Promise<void>((resolve) => {
      fire = resolve;
    });
    const harmful = probeTool('harmful', () => {
      setTimeout(() => {
        JSON.stringify = poison;
        fire();
      }, 20);
      return 'done';
    });
    const waiting = probeTool('waiting', async () => {
      await fired;
      return 'waited';
    });
    const executor = executorOf([harmful, waiting]);
    expect(await executor.execute('harmful', {})).toMatchObject({ success: true, output: 'done' });
    const running = Array.from({ length: beside }, () => executor.execute('waiting', {}));
    await fired;
    const results = await Promise.all(running);
    return { results, stays: JSON.stringify === poison };
  }

  it('is put back while another tool runs, which is taken for the one that did it', async () => {
    const { results, stays } = await afterTimer(1);
    expect([results[0]?.error?.code, stays]).toEqual(['tool_panicked', false]);
  });

  it('is put back while several run, and none of them is named', async () => {
    const { results, stays } = await afterTimer(2);
    expect([results.map(({ output }) => output), stays]).toEqual([['waited', 'waited'], false]);
  });

  it('stays while none runs: it could be the host program', async () => {
    expect((await afterTimer(0)).stays).toBe(true);
  });
});

describe('a member that cannot be removed again', () => {
  it('is emptied, and blamed on one call alone', async () => {
    const harm = (): void => {
      Object.defineProperty(Object.prototype, 'outputRef', {
        value: 'x',
        writable: true,
        configurable: false,
      });
    };
    const [harmed, ...healthy] = await afterHarm(harm, false);
    expect(harmed?.error?.code).toBe('tool_panicked');
    expect(healthy.map(({ success, outputRef }) => [success, outputRef])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
  });
});

describe('an error that says nothing', () => {
  it.each([
    ['returned', () => ({ text: 'some output', error: { message: '' } })],
    ['of blanks', () => ({ error: { message: ' \n', code: 'timeout' } })],
    [
      'thrown',
      () => {
        throw new ToolError('execution_failed', '');
      },
    ],
    [
      'thrown with a code',
      () => {
        throw new ToolError('patch_failed', '');
      },
    ],
  ])('gets a sentence: %s', async (_, run) => {
    const { error } = await executorOf([probeTool('silent', run)]).execute('silent', {});
    expect(error?.message).toBe('silent failed, and did not say why.');
    expect(isErrorCode(error?.code)).toBe(true);
  });
});
