import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { ToolError } from '../../errors/tool-error.js';
import { watchedProperties } from '../../platform/runtime/intrinsics.js';
import type { Watched } from '../../platform/runtime/watched-intrinsics.js';
import { executorOf } from '../fixtures/plan-fixture.js';
import { probeTool } from '../fixtures/probe-tool.js';

type Harm = () => void;
type NamedHarm = readonly [name: string, harm: Harm];

const { defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys, set } = Reflect;
const later = setTimeout;
const { ofLanguage, ofTime } = watchedProperties();
const WATCHED = [...ofLanguage, ...ofTime];
const MEMBERS = ownKeys(Object.prototype);

const poison = (): never => {
  throw new Error('poisoned');
};
const silent = (): void => {};

function replacing(properties: readonly Watched[], value: unknown = poison): readonly NamedHarm[] {
  return properties.map(({ name, holder, key }) => [
    name,
    () =>
      void (
        defineProperty(holder, key, { value, writable: true, configurable: true }) || set(holder, key, value)
      ),
  ]);
}

const POLLUTED: readonly NamedHarm[] = [
  ...['error', 'text', 'content', 'structured', 'metadata', 'code', 'then', 'signal', 'get', 'set', 'value'],
  ...['message', 'details', 'hint', 'toJSON', 'success', 'output', 'anyOther'],
].map((key) => [
  `Object.prototype.${key}`,
  () => Reflect.set(Object.prototype, key, { message: 'polluted', code: 'no_such_code' }),
]);

const NAMED: ReadonlySet<string> = new Set([
  ...['Promise.prototype.then', 'Promise.resolve', 'Array.prototype.push', 'Array.prototype.concat'],
  ...['JSON.stringify', 'Array[Symbol.species]', 'Promise[Symbol.species]', 'ArrayIterator.next', 'Map'],
  ...['RegExp.prototype.flags', 'Object.prototype.error', 'Object.prototype.then', 'Date.prototype.getTime'],
  ...['Function.prototype.call', 'process.nextTick', 'queueMicrotask'],
]);

/** Restores everything. @returns the names of the replaced ones. By index, because nothing else is reliable here. */
function putBack(): string {
  let names = '';
  for (let index = 0; index < WATCHED.length; index++) {
    const { name, holder, key, descriptor: was } = WATCHED[index] as Watched;
    const now = getOwnPropertyDescriptor(holder, key);
    if (now?.value === was?.value && now?.get === was?.get) continue;
    names += `${name} `;
    if (was === undefined) deleteProperty(holder, key);
    else defineProperty(holder, key, was);
  }
  const now = ownKeys(Object.prototype);
  for (let index = MEMBERS.length; index < now.length; index++) {
    names += `Object.prototype.${String(now[index])} `;
    deleteProperty(Object.prototype, now[index] as PropertyKey);
  }
  return names;
}

const CALLS = ['harmful', 'healthy', 'healthy'].map((name, index) => ({ id: `${index}`, name, args: {} }));
const LATER_CALLS = CALLS.slice(1);
const healthy = probeTool('healthy', async () => ({ text: 'healthy', structured: { a: [1] } }));
const HEALTHY = [true, 'healthy', { a: [1] }];

function outcome(result: ToolResult | undefined): unknown {
  return [result?.success, result?.output, result?.structured];
}

/** Runs a tool that replaces built-ins, and other tools after it in the same batch. */
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
  return executorOf([harmful, healthy]).run(CALLS);
}

/**
 * Runs a tool whose timer replaces built-ins after the tool is answered, and then other tools when no tool runs any
 * more.
 */
async function afterLateHarm(harm: Harm): Promise<{ results: readonly ToolResult[]; isThere: string }> {
  let fire = silent;
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  const harmful = probeTool('harmful', () => {
    later(() => {
      harm();
      fire();
    }, 0);
    return 'done';
  });
  const executor = executorOf([harmful, healthy]);
  await executor.execute('harmful', {});
  await fired;
  const results = await executor.run(LATER_CALLS);
  return { results, isThere: putBack() };
}

describe.each([
  ['at once', false],
  ['after it has waited', true],
])('a tool that replaces what all code depends on, %s', (_, waits) => {
  const harms = [...replacing(ofLanguage), ...(waits ? [] : replacing(ofTime)), ...POLLUTED];

  async function wrongAfter([name, harm]: NamedHarm): Promise<readonly unknown[]> {
    const [harmed, ...others] = await afterHarm(harm, waits);
    const left = putBack();
    const isNamed = harmed?.error?.code === 'tool_panicked' && harmed.error.message.includes(name);
    const areWell = others.every((other) => JSON.stringify(outcome(other)) === JSON.stringify(HEALTHY));
    return isNamed && areWell && left === '' ? [] : [{ name, harmed, others, left }];
  }

  it.each(harms.filter(([name]) => NAMED.has(name)))(
    'is answered so, and no call after it is: %s',
    async (...harm) => {
      expect(await wrongAfter(harm)).toEqual([]);
    },
  );

  it('is answered so, and no call after it is: everything', {
    tags: ['soak'],
    timeout: 300_000,
  }, async () => {
    const wrong: unknown[] = [];
    for (const harm of harms) wrong.push(...(await wrongAfter(harm)));
    expect(wrong).toEqual([]);
    expect(harms.length).toBeGreaterThan(600);
  });
});

describe('what a timer replaces once its tool has answered, while no tool runs,', () => {
  // Node itself needs Array.prototype.pop after each promise.
  const poisoned = replacing(ofLanguage).filter(([name]) => name !== 'Array.prototype.pop');
  const harms = [...poisoned, ...replacing(ofLanguage, silent)];

  async function wrongAfter([name, harm]: NamedHarm): Promise<readonly unknown[]> {
    const { results, isThere } = await afterLateHarm(harm);
    const areWell = results.every((result) => JSON.stringify(outcome(result)) === JSON.stringify(HEALTHY));
    // The host program itself may have replaced it: between calls it stays, unless it would stop every `await`.
    const isRight = name.startsWith('Object.prototype.') ? true : isThere === `${name} `;
    return areWell && isRight ? [] : [{ name, results, isThere }];
  }

  it.each([...harms, ...POLLUTED].filter(([name]) => NAMED.has(name)))(
    'reaches no later call: %s',
    async (...harm) => {
      expect(await wrongAfter(harm)).toEqual([]);
    },
  );

  it('reaches no later call: everything', { tags: ['soak'], timeout: 300_000 }, async () => {
    const wrong: unknown[] = [];
    for (const harm of [...harms, ...POLLUTED]) wrong.push(...(await wrongAfter(harm)));
    expect(wrong).toEqual([]);
  });

  it('reaches no later call: a member of all objects that makes every await wait for ever', async () => {
    const { results, isThere } = await afterLateHarm(() => Reflect.set(Object.prototype, 'then', silent));
    expect([results.map(outcome), isThere]).toEqual([[HEALTHY, HEALTHY], '']);
  });

  it.each(replacing(ofTime))('is put back if it does not work: %s', async (_, harm) => {
    const { results, isThere } = await afterLateHarm(harm);
    expect([results.map(outcome), isThere]).toEqual([[HEALTHY, HEALTHY], '']);
  });

  it.each(['setTimeout', 'setInterval'])('is put back if it starts no timer: %s', async (name) => {
    const { results, isThere } = await afterLateHarm(() => Reflect.set(globalThis, name, silent));
    expect([results.map(outcome), isThere]).toEqual([[HEALTHY, HEALTHY], '']);
  });
});

describe('a change of the host program', () => {
  afterEach(() => {
    vi.useRealTimers();
    putBack();
  });

  it('is set aside while calls run, and no tool is blamed for it', async () => {
    const own = JSON.stringify;
    const replaced = vi.fn((value: unknown): string => own(value));
    const seen: unknown[] = [];
    const executor = executorOf([probeTool('looking', async () => `${seen.push(JSON.stringify)}`)]);
    Reflect.set(JSON, 'stringify', replaced);
    const result = await executor.execute('looking', {});
    expect([result.success, Reflect.get(JSON, 'stringify')]).toEqual([true, replaced]);
    expect(seen).toEqual([own]);
  });

  it('of the clock stays while a tool runs', async () => {
    const own = Date.now;
    const waiting = probeTool('waiting', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'waited';
    });
    const running = executorOf([waiting]).execute('waiting', {});
    const replaced = (): number => own() + 1;
    Date.now = replaced;
    expect([(await running).success, Date.now]).toEqual([true, replaced]);
  });

  it('of the clock and the timers is used: a test may let time pass', async () => {
    vi.useFakeTimers();
    const waiting = probeTool('waiting', async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return '';
    });
    const running = executorOf([waiting], { timeouts: { defaultMs: 60_000 } }).execute('waiting', {});
    await vi.advanceTimersByTimeAsync(70_000);
    expect((await running).error?.code).toBe('timeout');
  });
});

describe('what a timer changes once its tool has answered, while other tools run,', () => {
  afterEach(putBack);

  /** @param beside tools that run when the timer fires */
  async function afterTimer(beside: number): Promise<{ results: readonly ToolResult[]; isThere: string }> {
    let fire = silent;
    const fired = new Promise<void>((resolve) => {
      fire = resolve;
    });
    const harmful = probeTool('harmful', () => {
      later(() => {
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
    return { results, isThere: putBack() };
  }

  it('is put back, and the only other tool is taken for the one that did it', async () => {
    const { results, isThere } = await afterTimer(1);
    expect([results[0]?.error?.code, isThere]).toEqual(['tool_panicked', '']);
  });

  it('is put back, and of several none is named', async () => {
    const { results, isThere } = await afterTimer(2);
    expect([results.map(({ output }) => output), isThere]).toEqual([['waited', 'waited'], '']);
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
