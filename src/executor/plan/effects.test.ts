import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { ToolContext } from '../../contract/context.js';
import type { Effect, EffectKind } from '../../contract/effect.js';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { defineTool } from '../declare/define-tool.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';

type Doing = (ctx: ToolContext, root: string) => unknown;
const bytes = Buffer.from('new');

function prepared(): string {
  const root = folder();
  mkdirSync(join(root, 'dir/sub'), { recursive: true });
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'dir/in.txt'), 'inside');
  writeFileSync(join(root, 'other/out.txt'), 'outside');
  symlinkSync('../other/out.txt', join(root, 'dir/link'));
  symlinkSync('other', join(root, 'way'));
  symlinkSync('dir/in.txt', join(root, 'to-in'));
  return root;
}

async function run(
  effects: readonly Effect[] | undefined,
  execute: Doing,
  root = prepared(),
): Promise<ToolResult> {
  const tool = defineTool({
    name: 'tool',
    description: 'd',
    input: { type: 'object' },
    ...(effects === undefined ? {} : { effects: () => effects }),
    async execute(_args, ctx) {
      const value: unknown = await execute(ctx, root);
      return value instanceof Uint8Array ? Buffer.from(value).toString() : 'ok';
    },
  });
  const executor = executorOf([tool], { root, approver: null, sandbox: { allowAbsolute: true } });
  return executor.execute('tool', {});
}

describe('what a tool did not declare', () => {
  const touching: readonly (readonly [string, Doing])[] = [
    ['read', (ctx) => ctx.files.read('dir/in.txt')],
    ['write', (ctx) => ctx.files.write('dir/new.txt', bytes, { mode: 'create' })],
    ['append', (ctx) => ctx.files.write('dir/in.txt', bytes, { mode: 'append' })],
    ['write several', (ctx) => ctx.files.writeAll([{ path: 'dir/in.txt', bytes }])],
    ['remove among several', (ctx) => ctx.files.writeAll([{ path: 'dir/in.txt', bytes: null }])],
    ['list', (ctx) => ctx.files.list('dir')],
    ['list the root', (ctx) => ctx.files.list('.')],
    ['stat', (ctx) => ctx.files.stat('dir/in.txt')],
    ['stat several', (ctx) => ctx.files.statEntries?.('dir', ['in.txt'])],
    ['resolve', (ctx) => ctx.files.resolve?.('dir/in.txt')],
    ['remove', (ctx) => ctx.files.remove('dir/in.txt')],
    ['rename', (ctx) => ctx.files.rename('dir/in.txt', 'dir/moved.txt')],
    ['a command', (ctx) => ctx.processes.run({ shell: 'sh', command: 'touch dir/evil' })],
  ];
  const declared: readonly (readonly [string, readonly Effect[]])[] = [
    ['nothing', []],
    ['another place', ['read', 'write', 'delete'].map((kind) => ({ kind: kind as 'read', path: 'other' }))],
    [
      'a neighbour with a longer name',
      [
        { kind: 'write', path: 'di' },
        { kind: 'delete', path: 'dir2' },
      ],
    ],
    ['a question', [{ kind: 'ask' }]],
  ];

  it.each(
    declared.flatMap(([what, effects]) =>
      touching.map(([how, doing]) => [how, what, effects, doing] as const),
    ),
  )('is out of reach: %s, where it declared %s', async (_how, _what, effects, doing) => {
    const root = prepared();
    const { error } = await run(effects, doing, root);
    expect(error?.code).toBe('sandbox_violation');
    expect(readFileSync(join(root, 'dir/in.txt'), 'utf8')).toBe('inside');
  });

  const kinds: readonly (readonly [string, Effect, Doing, boolean])[] = [
    ['read lets read', { kind: 'read', path: 'dir' }, (ctx) => ctx.files.read('dir/in.txt'), true],
    ['read lets stat', { kind: 'read', path: 'dir/in.txt' }, (ctx) => ctx.files.stat('dir/in.txt'), true],
    [
      'read lets stat several entries',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.statEntries?.('dir', ['in.txt']),
      true,
    ],
    [
      'read lets stat a link, wherever it leads',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.stat('dir/link'),
      true,
    ],
    ['read lets not follow it', { kind: 'read', path: 'dir' }, (ctx) => ctx.files.read('dir/link'), false],
    ['read lets list', { kind: 'read', path: 'dir' }, (ctx) => ctx.files.list('dir/sub'), true],
    [
      'read lets not write',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.write('dir/n', bytes, { mode: 'create' }),
      false,
    ],
    ['read lets not remove', { kind: 'read', path: 'dir' }, (ctx) => ctx.files.remove('dir/in.txt'), false],
    [
      'write lets write below',
      { kind: 'write', path: 'dir' },
      (ctx) => ctx.files.write('dir/a/b', bytes, { mode: 'create' }),
      true,
    ],
    [
      'write lets read back',
      { kind: 'write', path: 'dir/in.txt' },
      (ctx) => ctx.files.read('dir/in.txt'),
      true,
    ],
    ['write lets not remove', { kind: 'write', path: 'dir' }, (ctx) => ctx.files.remove('dir/in.txt'), false],
    [
      'write lets not rename away',
      { kind: 'write', path: 'dir' },
      (ctx) => ctx.files.rename('dir/in.txt', 'dir/x'),
      false,
    ],
    [
      'write lets write several below',
      { kind: 'write', path: 'dir' },
      (ctx) =>
        ctx.files.writeAll([
          { path: 'dir/in.txt', bytes },
          { path: 'dir/a/b', bytes },
        ]),
      true,
    ],
    [
      'write lets not write one of several beside it',
      { kind: 'write', path: 'dir' },
      (ctx) =>
        ctx.files.writeAll([
          { path: 'dir/in.txt', bytes },
          { path: 'other/b', bytes },
        ]),
      false,
    ],
    [
      'write lets not take the mode of what is beside it',
      { kind: 'write', path: 'dir' },
      (ctx) => ctx.files.writeAll([{ path: 'dir/n', bytes, like: 'other/out.txt' }]),
      false,
    ],
    [
      'write lets not remove among several',
      { kind: 'write', path: 'dir' },
      (ctx) => ctx.files.writeAll([{ path: 'dir/in.txt', bytes: null }]),
      false,
    ],
    ['delete lets remove', { kind: 'delete', path: 'dir' }, (ctx) => ctx.files.remove('dir/in.txt'), true],
    [
      'delete lets not write',
      { kind: 'delete', path: 'dir' },
      (ctx) => ctx.files.write('dir/n', bytes, { mode: 'create' }),
      false,
    ],
    [
      'delete lets not rename',
      { kind: 'delete', path: 'dir' },
      (ctx) => ctx.files.rename('dir/in.txt', 'dir/x'),
      false,
    ],
    ['a file is not its folder', { kind: 'read', path: 'dir/in.txt' }, (ctx) => ctx.files.list('dir'), false],
    [
      'an absolute spelling',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.read(join(ctx.cwd, 'dir/in.txt')),
      true,
    ],
    [
      'a roundabout spelling',
      { kind: 'read', path: './dir/./' },
      (ctx) => ctx.files.read('dir//in.txt'),
      true,
    ],
    ['a dotted spelling', { kind: 'read', path: 'dir' }, (ctx) => ctx.files.read('dir/../dir/in.txt'), false],
    [
      'a link that leads to what is declared',
      { kind: 'read', path: 'dir/in.txt' },
      (ctx) => ctx.files.read('to-in'),
      true,
    ],
    [
      'a link out of what is declared',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.read('dir/link'),
      false,
    ],
    [
      'writing through a link out of what is declared',
      { kind: 'write', path: 'dir' },
      (ctx) => ctx.files.write('dir/link', bytes, { mode: 'overwrite' }),
      false,
    ],
    ['a link in the middle', { kind: 'read', path: 'other' }, (ctx) => ctx.files.read('way/out.txt'), true],
    [
      'a link in the middle that is not declared',
      { kind: 'read', path: 'dir' },
      (ctx) => ctx.files.read('way/out.txt'),
      false,
    ],
    [
      'removing a link in a declared folder',
      { kind: 'delete', path: 'dir' },
      (ctx) => ctx.files.remove('dir/link'),
      true,
    ],
    [
      'removing a link whose target alone is declared',
      { kind: 'delete', path: 'other' },
      (ctx) => ctx.files.remove('dir/link'),
      false,
    ],
  ];

  it.each(kinds)('%s', async (_what, effect, doing, allowed) => {
    const root = prepared();
    expect((await run([effect], doing, root)).error?.code).toBe(allowed ? undefined : 'sandbox_violation');
    expect(readFileSync(join(root, 'other/out.txt'), 'utf8')).toBe('outside');
  });

  it('may be replaced by a rename only where it is written', async () => {
    const both = (to: string): readonly Effect[] => [
      { kind: 'delete', path: 'dir/in.txt' },
      { kind: 'write', path: to },
    ];
    const rename: Doing = (ctx) => ctx.files.rename('dir/in.txt', 'other/new.txt');
    expect((await run(both('other/new.txt'), rename)).success).toBe(true);
    expect((await run(both('other/else.txt'), rename)).error?.code).toBe('sandbox_violation');
    const overLink: Doing = (ctx) => ctx.files.rename('dir/in.txt', 'way');
    expect((await run(both('other'), overLink)).error?.code).toBe('sandbox_violation');
  });

  it('stays out of reach when the tool widens its effects later', async () => {
    const effects: Effect[] = [{ kind: 'read', path: 'other' }];
    const result = await run(effects, async (ctx) => {
      effects.push({ kind: 'unknown' });
      Object.assign(effects[0] as object, { kind: 'unknown' });
      return ctx.files.read('dir/in.txt');
    });
    expect(result.error?.code).toBe('sandbox_violation');
  });

  it('stays out of reach for a path that changes while it is examined', async () => {
    const result = await run([{ kind: 'read', path: 'other' }], (ctx) => {
      let looks = 0;
      const path = { toString: () => (looks++ === 0 ? 'other/out.txt' : 'dir/in.txt') };
      return ctx.files.read(path as unknown as string);
    });
    expect(result.success).toBe(false);
  });
});

describe('commands', () => {
  const command = 'pwd';
  const cases: readonly (readonly [string, Effect, { command: string; cwd?: string }, boolean])[] = [
    ['the declared one', { kind: 'run', command, shell: 'sh' }, { command }, true],
    ['another one', { kind: 'run', command, shell: 'sh' }, { command: 'pwd ' }, false],
    ['another folder', { kind: 'run', command, shell: 'sh' }, { command, cwd: 'dir' }, false],
    [
      'the declared folder',
      { kind: 'run', command, shell: 'sh', cwd: 'dir' },
      { command, cwd: './dir' },
      true,
    ],
    [
      'the declared folder by a link',
      { kind: 'run', command, shell: 'sh', cwd: 'way' },
      { command, cwd: 'other' },
      true,
    ],
    [
      'the root instead of the declared folder',
      { kind: 'run', command, shell: 'sh', cwd: 'dir' },
      { command },
      false,
    ],
    ['a folder outside', { kind: 'unknown' }, { command, cwd: '/' }, false],
    ['any, where nothing can be told', { kind: 'unknown' }, { command, cwd: 'dir' }, true],
  ];
  it.each(cases)('%s', async (_what, effect, request, allowed) => {
    const result = await run([effect], (ctx) => ctx.processes.run({ shell: 'sh', ...request }));
    expect(result.error?.code).toBe(allowed ? undefined : 'sandbox_violation');
  });

  it.each([
    ['sh', 'bash'],
    ['bash', 'sh'],
  ] as const)('declared for %s do not run with %s, nor in the background', async (declared, shell) => {
    for (const how of ['run', 'startShell'] as const) {
      const { error } = await run([{ kind: 'run', command, shell: declared }], (ctx) =>
        ctx.processes[how]({ shell, command }),
      );
      expect(error?.code).toBe('sandbox_violation');
      expect(error?.message).toContain(`declared it for ${declared}, and runs it with ${shell}`);
    }
  });

  it('run with no other shell than sh and bash, whatever is declared', async () => {
    const { error } = await run([{ kind: 'unknown' }], (ctx) =>
      ctx.processes.run({ command, shell: 'python3' as 'sh' }),
    );
    expect(error).toMatchObject({
      code: 'sandbox_violation',
      message: 'Cannot run a command with the shell "python3".',
      hint: 'Declare and give "sh" or "bash".',
    });
  });

  it('are analysed for the shell that they declare, whatever the tool is called', async () => {
    // bash reads one harmless string. Another sh reads a string that ends early and a second command, so this is asked
    // about.
    const text = "true $'\\'; rm -rf / #'";
    const reasonOf = async (name: string, shell: 'sh' | 'bash') => {
      const tool = defineTool({
        name,
        description: 'd',
        input: { type: 'object' },
        effects: () => [{ kind: 'run', command: text, shell }],
        execute: () => 'ran',
      });
      const { calls } = await executorOf([tool]).plan([{ id: '1', name, args: {} }]);
      return calls[0]?.reason;
    };
    for (const name of ['bash', 'tool']) {
      expect(await reasonOf(name, 'sh')).toMatch(/Shells other than bash read it differently/);
      expect(await reasonOf(name, 'bash')).not.toMatch(/Shells other than bash read it differently/);
    }
  });
});

type Attempt = (ctx: ToolContext, id: string) => unknown;

describe('background shells', () => {
  const command = 'sleep 60';
  const starts: Effect = { kind: 'run', command, shell: 'sh' };

  /** A tool that starts a shell, and one that tries an operation on it. */
  async function onShell(effects: (id: string) => readonly Effect[], attempt: Attempt) {
    const input = { type: 'object', properties: { id: { type: 'string' } } } as const;
    const start = defineTool({
      name: 'start',
      description: 'd',
      input,
      effects: () => [starts],
      execute: async (_args, ctx) => (await ctx.processes.startShell({ shell: 'sh', command })).id,
    });
    const use = defineTool({
      name: 'use',
      description: 'd',
      input,
      effects: ({ id = '' }) => effects(id),
      async execute({ id = '' }, ctx) {
        await attempt(ctx, id);
        return 'done';
      },
    });
    const executor = executorOf([start, use], { approver: null });
    const { output: id } = await executor.execute('start', {});
    return executor.execute('use', { id });
  }

  const look = (ctx: ToolContext, id: string) => ctx.processes.findShell(id);
  const read = (ctx: ToolContext, id: string) => ctx.processes.readShell(id);
  const kill = (ctx: ToolContext, id: string) => ctx.processes.killShell(id);
  const own = (id: string): readonly Effect[] => [{ kind: 'process', id }];
  const watched = (id: string): readonly Effect[] => [{ kind: 'process', id, access: 'read' }];
  const other = (): readonly Effect[] => [{ kind: 'process', id: 'shell_of_another' }];
  const declaresCommand = (): readonly Effect[] => [starts];
  eachOf<[string, (id: string) => readonly Effect[], Attempt, boolean]>(
    [
      ['ended by the call that declares it', own, kill, true],
      ['read by a call that declares to read it', watched, read, true],
      ['ended by a call that declares to read it', watched, kill, false],
      ['looked at by a call that declares another', other, look, false],
      ['ended by a call that declares a command', declaresCommand, kill, false],
      ['ended by a call that cannot tell', () => [{ kind: 'unknown' }], kill, true],
      ['looked at by the call that declares it', own, look, true],
      ['read by the call that declares it', own, read, true],
      ['read by a call that declares another', other, read, false],
      ['ended by a call that declares another', other, kill, false],
      ['read by a call that touches nothing', () => [], read, false],
    ],
    6,
  )('%s: %#', async (_what, effects, attempt, isAllowed) => {
    const { error } = await onShell(effects, attempt);
    expect(error?.code).toBe(isAllowed ? undefined : 'sandbox_violation');
  });

  it('may be read and ended by the call that started it', async () => {
    const result = await run([starts], async (ctx) => {
      const { id } = await ctx.processes.startShell({ shell: 'sh', command });
      expect(await ctx.processes.readShell(id)).toBeDefined();
      expect((await ctx.processes.killShell(id))?.status).toBe('killed');
    });
    expect(result.error).toBeUndefined();
  });
});

describe('touches', () => {
  const touching = (touches: readonly EffectKind[], effects?: () => readonly Effect[]) => {
    let runs = 0;
    const tool = defineTool({
      name: 't',
      title: 'A tool',
      description: 'd',
      input: { type: 'object' },
      touches,
      ...(effects === undefined ? {} : { effects }),
      execute: () => `${++runs}`,
    });
    return { executor: executorOf([tool], { approver: null }), runs: () => runs };
  };

  it('holds a tool to the kinds that it names', async () => {
    const fine = touching(['read', 'write'], () => [{ kind: 'read', path: 'a' }]);
    expect((await fine.executor.execute('t', {})).output).toBe('1');
    const strays: readonly (readonly [readonly EffectKind[], (() => readonly Effect[]) | undefined])[] = [
      [
        ['read'],
        () => [
          { kind: 'read', path: 'a' },
          { kind: 'write', path: 'b' },
        ],
      ],
      [[], () => [{ kind: 'ask' }]],
      // Without effects(), the effects of a tool are unknown.
      [['read'], undefined],
    ];
    for (const [touches, effects] of strays) {
      const { executor, runs } = touching(touches, effects);
      const { error } = await executor.execute('t', {});
      expect(error).toMatchObject({ code: 'tool_panicked', details: { executed: 'no' } });
      expect(runs()).toBe(0);
      const { calls } = await executor.plan([{ id: '1', name: 't', args: {} }]);
      expect(calls[0]?.disposition).toBe('pre_resolved');
    }
  });

  it('becomes the annotations of the definition, beside the title and the output schema', () => {
    const output = { type: 'object', properties: { n: { type: 'number' } } } as const;
    const plain = { name: 'p', description: 'd', input: { type: 'object' }, execute: () => '' } as const;
    const tools = [
      defineTool(plain),
      defineTool({
        ...plain,
        name: 'q',
        title: 'Q',
        output,
        touches: ['read'],
        effects: () => [],
        execute: () => ({ n: 1 }),
      }),
    ];
    expect(executorOf(tools).definitions()).toEqual([
      { name: 'p', description: 'd', inputSchema: { type: 'object' } },
      {
        name: 'q',
        title: 'Q',
        description: 'd',
        inputSchema: { type: 'object' },
        outputSchema: output,
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
    ]);
  });

  it.each([['read'], [['exec']], [[7]], [{}]])('must be a list of kinds, not %j', (touches) => {
    const spec = { name: 't', description: 'd', input: { type: 'object' }, execute: () => '', touches };
    expect(() => defineTool(spec as unknown as Parameters<typeof defineTool>[0])).toThrow(
      /touches must be a list of kinds of effects \(read, write/,
    );
  });
});

describe('effects', () => {
  it('that are empty run unasked; unknown ones ask, and may use everything within the roots', async () => {
    const root = prepared();
    const tool = (name: string, effects?: () => Effect[]) =>
      defineTool({
        name,
        description: 'd',
        input: { type: 'object' },
        ...(effects === undefined ? {} : { effects }),
        async execute(_args, ctx) {
          await ctx.files.write('made', bytes, { mode: 'create' });
          await ctx.files.remove('made');
          const { stdout } = await ctx.processes.run({ shell: 'sh', command: 'echo hi' });
          return stdout.head;
        },
      });
    const tools = [tool('nothing', () => []), tool('anything')];
    const plan = await executorOf(tools, { root }).plan([
      { id: '1', name: 'nothing', args: {} },
      { id: '2', name: 'anything', args: {} },
    ]);
    expect(plan.calls).toMatchObject([
      { disposition: 'execute_now', risk: 'low', effects: [] },
      { disposition: 'requires_confirmation', risk: 'high', effects: [{ kind: 'unknown' }] },
    ]);
    const asked = executorOf(tools, { root, approver: () => ({ kind: 'approve_all' }) });
    expect((await asked.execute('anything', {})).output).toBe('hi\n');
    expect((await asked.execute('nothing', {})).error?.code).toBe('sandbox_violation');
  });

  const kinds: readonly (readonly [Effect, string, boolean])[] = [
    [{ kind: 'read', path: 'a' }, 'low', false],
    [{ kind: 'ask' }, 'low', false],
    [{ kind: 'write', path: 'a' }, 'medium', true],
    [{ kind: 'fetch', url: 'https://x' }, 'medium', true],
    [{ kind: 'delete', path: 'a' }, 'high', true],
    [{ kind: 'run', command: 'ls', shell: 'sh' }, 'high', true],
    [{ kind: 'process', id: 'shell_1' }, 'medium', true],
    [{ kind: 'process', id: 'shell_1', access: 'read' }, 'low', false],
    [{ kind: 'call', server: 'git', tool: 'get', access: 'read', resource: 'a/b' }, 'low', false],
    [{ kind: 'call', server: 'git', tool: 'put', access: 'write' }, 'medium', true],
    [{ kind: 'call', server: 'git', tool: 'drop', access: 'destroy' }, 'high', true],
    [{ kind: 'unknown' }, 'high', true],
  ];
  it.each(kinds)('%j: risk %s, asked for: %s', async (effect, risk, asked) => {
    const tool = defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object' },
      effects: () => [effect],
      execute: () => '',
    });
    const { calls } = await executorOf([tool]).plan([{ id: '1', name: 't', args: {} }]);
    expect(calls[0]).toMatchObject({
      risk,
      disposition: asked ? 'requires_confirmation' : 'execute_now',
      effects: [effect],
    });
    expect(calls[0]?.summary).toMatch(/^t: /);
  });

  const garbage: readonly (readonly [string, () => unknown])[] = [
    ['throws', () => fail(new Error('cannot tell'))],
    ['throws what cannot be shown', () => fail(Object.create(null))],
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'read'],
    ['one effect without a list', () => ({ kind: 'read', path: 'a' })],
    ['a promise', async () => []],
    ['a list of null', () => [null]],
    ['a hole', () => new Array(1)],
    ['an unknown kind', () => [{ kind: 'exec', path: 'a' }]],
    ['a kind that every object knows', () => [{ kind: 'constructor' }]],
    ['no path', () => [{ kind: 'write' }]],
    ['a path that is none', () => [{ kind: 'write', path: 7 }]],
    ['no command', () => [{ kind: 'run', shell: 'sh' }]],
    ['no shell', () => [{ kind: 'run', command: 'ls' }]],
    ['a shell that is not known', () => [{ kind: 'run', command: 'ls', shell: 'zsh' }]],
    ['a folder that is none', () => [{ kind: 'run', command: 'ls', shell: 'sh', cwd: 7 }]],
    ['no id', () => [{ kind: 'process' }]],
    ['an access to a shell that is not known', () => [{ kind: 'process', id: 'a', access: 'end' }]],
    ['no access', () => [{ kind: 'call', server: 'a', tool: 'b' }]],
    ['an access that is not known', () => [{ kind: 'call', server: 'a', tool: 'b', access: 'delete' }]],
    ['no server', () => [{ kind: 'call', tool: 'b', access: 'read' }]],
    ['no address', () => [{ kind: 'fetch' }]],
  ];
  it.each(garbage)('that are %s are answered before anything runs', async (_what, effects) => {
    let ran = false;
    const tool = defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object' },
      effects: effects as () => Effect[],
      execute: () => {
        ran = true;
        return '';
      },
    });
    const executor = executorOf([tool], { approver: null });
    const { calls } = await executor.plan([{ id: '1', name: 't', args: {} }]);
    expect(calls[0]?.disposition).toBe('pre_resolved');
    const { error } = await executor.execute('t', {});
    expect(error).toMatchObject({ code: 'execution_failed', details: { executed: 'no' } });
    expect(error?.message).toMatch(/^t cannot say what it would touch: /);
    expect(ran).toBe(false);
  });

  const traits: readonly (readonly [string, object])[] = [
    ['requiresApproval', { requiresApproval: () => 'yes' }],
    ['requiresApproval', { requiresApproval: async () => true }],
    ['risk', { risk: () => 'extreme' }],
    ['risk', { risk: () => fail(new Error('x')) }],
    ['summarize', { summarize: () => 7 }],
    ['summarize', { summarize: () => fail(new Error('x')) }],
  ];
  it.each(traits)('a %s that gives garbage is answered before anybody is asked', async (_what, part) => {
    let asked = 0;
    const tool = defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object' },
      ...part,
      execute: () => '',
    });
    const executor = executorOf([tool], {
      approver: () => {
        asked++;
        return { kind: 'approve_all' };
      },
    });
    expect((await executor.execute('t', {})).error?.code).toBe('execution_failed');
    expect(asked).toBe(0);
  });

  it('are given the code of the ToolError that they throw', async () => {
    const { ToolError } = await import('../../errors/tool-error.js');
    const tool = defineTool({
      name: 't',
      description: 'd',
      input: { type: 'object' },
      effects: () => fail(new ToolError('stale_file', 'read it first', { details: { bad: 1n } })),
      execute: () => '',
    });
    const { error } = await executorOf([tool]).execute('t', {});
    expect(error).toEqual({ code: 'stale_file', message: 'read it first', details: { executed: 'no' } });
  });

  it('that lie outside are refused, through links and hard to see ones too', async () => {
    const root = prepared();
    const outside = folder();
    writeFileSync(join(outside, 'x'), 'x');
    symlinkSync(outside, join(root, 'leak'));
    linkSync(join(outside, 'x'), join(root, 'hard'));
    for (const path of ['../x', '/etc/passwd', 'leak/x', 'dir/../../x', '']) {
      const result = await run([{ kind: 'read', path }], () => 'never', root);
      expect(['sandbox_violation', 'bad_args']).toContain(result.error?.code);
      expect(result.error?.details?.executed).toBe('no');
    }
  });
});

function fail(error: unknown): never {
  throw error;
}
