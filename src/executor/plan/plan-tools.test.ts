import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../contract/tool.js';
import { isToolError } from '../../errors/tool-error.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import { createRegistry } from '../declare/registry.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';

const BASE = { name: 't', description: 'd', input: { type: 'object' }, execute: () => '' } as const;
const JSON_SCHEMA = (target: StandardSchemaLike) => target;
type StandardSchemaLike = StandardSchemaV1<unknown, { readonly n: number }>;

/** A hand-written Standard Schema, like those of valibot, with its JSON Schema; asynchronous on request. */
function byHand(asynchronous: boolean): StandardSchemaLike {
  const validate = (value: unknown): StandardSchemaV1.Result<{ readonly n: number }> => {
    const n = (value as { n?: unknown }).n;
    return typeof n === 'number'
      ? { value: { n: n + 1 } }
      : { issues: [{ message: 'n must be a number', path: ['n'] }] };
  };
  const jsonSchema = () => ({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] });
  return JSON_SCHEMA({
    '~standard': {
      version: 1,
      vendor: 'hand',
      validate: asynchronous ? async (value) => validate(value) : validate,
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  } as StandardSchemaLike);
}

describe('defineTool()', () => {
  it('infers the arguments from zod, a Standard Schema and JSON Schema', () => {
    defineTool({
      ...BASE,
      input: z.object({
        path: z.string(),
        n: z.number().default(1),
        when: z.string().transform((s) => s.length),
      }),
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<{ path: string; n: number; when: number }>();
        return '';
      },
    });
    defineTool({
      ...BASE,
      input: byHand(true),
      effects(args) {
        expectTypeOf(args).toEqualTypeOf<{ readonly n: number }>();
        return [];
      },
    });
    defineTool({
      ...BASE,
      input: {
        type: 'object',
        properties: { path: { type: 'string' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
        required: ['path'],
      },
      summarize(args) {
        expectTypeOf(args).toEqualTypeOf<{ readonly path: string; readonly tags?: readonly ('a' | 'b')[] }>();
        return '';
      },
    });
    expect.assertions(0);
  });

  it('gives defaults and transforms of zod to the tool, and keeps what the model sent for everybody else', async () => {
    const got: unknown[] = [];
    const tool = defineTool({
      ...BASE,
      input: z.object({ text: z.string().transform((text) => text.length), n: z.number().default(7) }),
      effects: () => [{ kind: 'write', path: 'a' }],
      execute(args) {
        got.push(args);
        return '';
      },
    });
    const executor = executorOf([tool], {
      approver: ([request]) => {
        got.push(request?.args);
        return { kind: 'approve_all' };
      },
    });
    expect((await executor.execute('t', { text: 'four' })).success).toBe(true);
    expect(got).toEqual([{ text: 'four' }, { text: 4, n: 7 }]);
  });

  it.each([false, true])('takes a Standard Schema made by hand (asynchronous: %s)', async (asynchronous) => {
    const got: unknown[] = [];
    const tool = defineTool({
      ...BASE,
      input: byHand(asynchronous),
      effects: () => [],
      execute: (args) => {
        got.push(args);
        return '';
      },
    });
    const executor = executorOf([tool]);
    const results = await executor.run([
      { id: 'a', name: 't', args: { n: 1 } },
      { id: 'b', name: 't', args: { n: 'x' } },
      { id: 'a', name: 't', args: { n: 1 } },
    ]);
    expect(results.map(({ error }) => error?.code)).toEqual([
      undefined,
      'bad_args',
      'duplicate_tool_call_id',
    ]);
    expect(got).toEqual([{ n: 2 }]);
  });

  it('reads JSON Schema as 2020-12, and as draft-07 where it says so', async () => {
    const tuple = { type: 'array', prefixItems: [{ type: 'string' }], items: false };
    const old = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    const tools = [
      defineTool({
        ...BASE,
        name: 'new',
        effects: () => [],
        input: { type: 'object', properties: { l: tuple } },
      }),
      defineTool({
        ...BASE,
        name: 'old',
        effects: () => [],
        input: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { l: old } },
      }),
    ];
    const executor = executorOf(tools);
    for (const name of ['new', 'old']) {
      expect((await executor.execute(name, { l: ['x'] })).success).toBe(true);
      expect((await executor.execute(name, { l: [1] })).error?.code).toBe('bad_args');
      expect((await executor.execute(name, { l: ['x', 'y'] })).error?.code).toBe('bad_args');
    }
  });

  it('lets nothing that a tool does to its arguments reach another', async () => {
    const seen: unknown[] = [];
    const dig = (args: unknown): void => {
      try {
        Object.assign((args as { deep: { list: unknown[] } }).deep, { path: 'evil' });
      } catch {
        seen.push('frozen');
      }
    };
    for (const input of [
      { type: 'object' } as const,
      z.looseObject({ deep: z.looseObject({ path: z.string() }) }),
    ]) {
      seen.length = 0;
      const tool = defineTool({
        ...BASE,
        input,
        effects: (args) => {
          dig(args);
          return [{ kind: 'write', path: 'a' }];
        },
        requiresApproval: (args) => {
          dig(args);
          return true;
        },
        summarize: (args) => {
          dig(args);
          return JSON.stringify(args);
        },
        execute: (args) => {
          dig(args);
          return JSON.stringify(args);
        },
      } as Parameters<typeof defineTool>[0]);
      const executor = executorOf([tool], {
        approver: ([request]) => {
          seen.push(request?.summary);
          return { kind: 'approve_all' };
        },
      });
      const { output } = await executor.execute('t', { deep: { path: 'good' } });
      expect(output).toBe('{"deep":{"path":"good"}}');
      expect(seen).toEqual(['frozen', 'frozen', 'frozen', output, 'frozen']);
    }
  });

  it('answers a tool that insists on changing its arguments', async () => {
    const tool = defineTool({
      ...BASE,
      effects: () => [],
      execute(args) {
        (args as { x: number }).x = 1;
        return '';
      },
    });
    const { error } = await executorOf([tool]).execute('t', {});
    expect(error).toMatchObject({ code: 'tool_panicked', details: { executed: 'yes' } });
  });

  it('takes instances that a transform makes, and classes as declarations', async () => {
    class Greeter {
      readonly name = 'greet';
      readonly description = 'd';
      readonly input = z.object({ url: z.string().transform((url) => new URL(url)) });
      #greeting = 'hello';
      effects() {
        return [];
      }
      execute({ url }: { url: URL }) {
        return `${this.#greeting} ${url.host}`;
      }
    }
    const executor = executorOf([defineTool(new Greeter())]);
    expect((await executor.execute('greet', { url: 'https://example.org/x' })).output).toBe(
      'hello example.org',
    );
  });

  it('defaults to the most careful answers, each of which can be set', async () => {
    const plain = defineTool(BASE);
    const open = defineTool({
      ...BASE,
      name: 'open',
      effects: () => [{ kind: 'read', path: 'a' }],
      risk: 'high',
      requiresApproval: (args) => Object.keys(args).length > 0,
      summarize: () => 'in my words',
    });
    const { calls } = await executorOf([plain, open]).plan([
      { id: '1', name: 't', args: {} },
      { id: '2', name: 'open', args: {} },
      { id: '3', name: 'open', args: { x: 1 } },
    ]);
    expect(calls).toMatchObject([
      { disposition: 'requires_confirmation', risk: 'high', effects: [{ kind: 'unknown' }] },
      { disposition: 'execute_now', risk: 'high' },
      { disposition: 'requires_confirmation', risk: 'high', summary: 'in my words' },
    ]);
  });

  const invalid: readonly (readonly [string, unknown])[] = [
    ['object', null],
    ['object', 'x'],
    ['name', { ...BASE, name: '' }],
    ['name', { ...BASE, name: 'a b' }],
    ['name', { ...BASE, name: 'ä' }],
    ['name', { ...BASE, name: 'x'.repeat(65) }],
    ['name', { ...BASE, name: 7n }],
    ['name', { ...BASE, name: 'a\n' }],
    ['name', { ...BASE, aliases: ['ok', 'not ok'] }],
    ['aliases', { ...BASE, aliases: 'abc' }],
    ['description', { ...BASE, description: undefined }],
    ['input', { ...BASE, input: undefined }],
    ['input', { ...BASE, input: [] }],
    ['execute', { ...BASE, execute: undefined }],
    ['execute', { ...BASE, execute: 'ls' }],
    ['effects', { ...BASE, effects: [] }],
    ['requiresApproval', { ...BASE, requiresApproval: 'yes' }],
    ['risk', { ...BASE, risk: 'extreme' }],
    ['risk', { ...BASE, risk: 'toString' }],
    ['category', { ...BASE, category: 'constructor' }],
    ['timeoutClass', { ...BASE, timeoutClass: 'fast' }],
    ['timeoutMs', { ...BASE, timeoutMs: -1 }],
    ['timeoutMs', { ...BASE, timeoutMs: '5s' }],
    ['maxArgsBytes', { ...BASE, maxArgsBytes: 0 }],
    ['idempotent', { ...BASE, idempotent: 'yes' }],
    ['probe', { ...BASE, probe: {} }],
    ['requiresApproval', { ...BASE, requireApproval: true }],
    ['effects', { ...BASE, effect: () => [] }],
  ];
  it.each(invalid)('names a wrong %s', (part, spec) => {
    const error = errorOf(() => defineTool(spec as typeof BASE));
    expect(error).toMatchObject({ code: 'config_invalid' });
    expect(error.message).toContain(part);
  });

  it('leaves parts of other houses alone', () => {
    expect(() =>
      defineTool({ ...BASE, type: 'function', strict: true, annotations: {} } as typeof BASE),
    ).not.toThrow();
  });
});

describe('registration', () => {
  const named = (name: string, aliases: readonly string[] = []): Tool =>
    defineTool({ ...BASE, name, aliases });

  it.each([
    ['twice', [named('a'), named('a')]],
    ['as another’s alias', [named('a', ['b']), named('b')]],
    ['an alias as another’s name', [named('b'), named('a', ['b'])]],
    ['an alias twice', [named('a', ['x']), named('b', ['x'])]],
    ['an alias of its own name', [named('a', ['a'])]],
    ['the same alias twice', [named('a', ['x', 'x'])]],
  ])('refuses a name %s', (_how, tools) => {
    expect(errorOf(() => createExecutor({ tools, root: folder() })).code).toBe('duplicate_tool');
  });

  it('leaves a registry as it was when it refuses', () => {
    const registry = createRegistry([named('a')]);
    const before = JSON.stringify(registry.definitions());
    expect(() => registry.register(named('b', ['c', 'a']))).toThrow();
    expect([registry.has('b'), registry.has('c'), JSON.stringify(registry.definitions())]).toEqual([
      false,
      false,
      before,
    ]);
  });

  it.each([
    ['an unknown type', { type: 'strange' }],
    ['arguments that are no object', { type: 'string' }],
    ['a reference to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }],
    ['an old dialect', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }],
    ['a slip', { type: 'object', propertes: {} }],
    ['a pattern that is none', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ])('refuses a schema with %s', (_what, input) => {
    const tool = (): Tool => defineTool({ ...BASE, input });
    expect(errorOf(() => createExecutor({ tools: [tool()], root: folder() })).code).toBe('config_invalid');
  });

  it('checks what is costly at first use, beyond the first 32 tools', async () => {
    const unused = Array.from({ length: 32 }, (_, index) => defineTool({ ...BASE, name: `unused_${index}` }));
    const lost = { type: 'object', properties: { a: { $ref: '#/$defs/none' } } };
    const late = defineTool({ ...BASE, name: 'late', input: lost });
    const executor = createExecutor({ tools: [...unused, late], root: folder() });
    expect(executor.definitions().find(({ name }) => name === 'late')?.inputSchema).toEqual(lost);
    const [result] = await executor.run([{ id: '1', name: 'late', args: {} }]);
    expect(result?.error).toMatchObject({
      code: 'bad_args',
      message: expect.stringContaining('its reference "#/$defs/none" leads nowhere'),
      details: { executed: 'no' },
    });
    // An obvious mistake is still refused.
    const slip = { type: 'object', propertes: {} };
    const wrong = (): Tool => defineTool({ ...BASE, name: 'wrong', input: slip });
    expect(errorOf(() => createExecutor({ tools: [...unused, wrong()], root: folder() })).code).toBe(
      'config_invalid',
    );
  });

  it.each([[null], ['bash'], [{}], [{ ...BASE }], [() => 'x']])('refuses %j, which is not a tool', (tool) => {
    const error = errorOf(() => createExecutor({ tools: [tool as unknown as Tool], root: folder() }));
    expect(error).toMatchObject({ code: 'config_invalid', message: expect.stringContaining('defineTool') });
  });

  it('is seen by an executor that has the registry', async () => {
    const registry = createRegistry();
    const executor = createExecutor({ tools: registry, root: folder() });
    expect((await executor.execute('late', {})).error?.code).toBe('unknown_tool');
    registry.register(defineTool({ ...BASE, name: 'late', effects: () => [] }));
    expect((await executor.execute('late', {})).success).toBe(true);
    expect(executor.definitions().map(({ name }) => name)).toEqual(['late']);
    await executor.close();
  });
});

function errorOf(action: () => unknown): Error & { readonly code: string } {
  try {
    action();
  } catch (error) {
    if (isToolError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
