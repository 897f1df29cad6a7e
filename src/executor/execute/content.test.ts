import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import type { Middleware } from '../../contract/context.js';
import type { Executor } from '../../contract/executor.js';
import type { Tool } from '../../contract/tool.js';
import { createTape } from '../../testing/create-tape.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { probeTool } from '../fixtures/probe-tool.js';

const opened: Executor[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
});

function executorOf(tools: readonly Tool[], options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ policy: null, approver: null, tools, ...options });
  opened.push(executor);
  return executor;
}

const run = (value: unknown, options?: ExecutorOptions) =>
  executorOf([probeTool('t', () => value)], options).execute('t', {});

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0);
const image: ContentBlock = { type: 'image', mediaType: 'image/png', data: PNG };

describe('a tool that returns a JSON value', () => {
  it.each([
    [null],
    [true],
    [0],
    [-1.5],
    [[]],
    [[1, 'a', null]],
    [{}],
    [{ temperature: 21, days: [{ n: 1 }] }],
    [{ metadata: 5 }],
  ])('has %j as its structured value, and its JSON as output', async (value) => {
    const result = await run(value);
    expect(result).toMatchObject({ success: true, output: JSON.stringify(value) });
    expect(result.structured).toStrictEqual(value);
  });

  it('keeps members that are named like parts of a prototype, and objects without one', async () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    expect(JSON.stringify((await run(value)).structured)).toBe(JSON.stringify(value));
    expect((await run(Object.assign(Object.create(null), { a: 1 }))).structured).toEqual({ a: 1 });
  });

  it('shows structured output as JSON if there is no text, and adds nothing for a failure', async () => {
    expect(await run({ structured: [1] })).toMatchObject({ output: '[1]', structured: [1] });
    expect(await run({ structured: [1], text: 'one' })).toMatchObject({ output: 'one', structured: [1] });
    const failed = await run({ error: { message: 'no' } });
    expect(failed).toMatchObject({
      success: false,
      output: '',
      error: { code: 'execution_failed', message: 'no' },
    });
  });

  const circle: Record<string, unknown> = {};
  circle.inner = circle;
  class City {
    readonly name = 'Oslo';
  }
  it.each([
    ['undefined', undefined, 'it returned undefined'],
    ['NaN', Number.NaN, 'NaN is not JSON'],
    [
      'Infinity deep inside',
      { a: { b: [0, 1, Number.POSITIVE_INFINITY] } },
      'at "a.b[2]": Infinity is not JSON',
    ],
    ['a Date', { 'made at': new Date(0) }, 'at "["made at"]": a Date is not JSON'],
    ['a Map', new Map([['a', 1]]), 'a Map or a Set is not JSON'],
    ['a function', { f: () => 1 }, 'at "f": a function is not JSON'],
    ['an undefined member', { a: [{ b: undefined }] }, 'at "a[0].b": undefined is not JSON'],
    ['a hole', [1, undefined, 2], 'at "[1]": undefined is not JSON'],
    ['a class instance', { city: new City() }, 'at "city": an instance of City is not JSON'],
    ['a bigint', [1n], 'at "[0]": a bigint is not JSON'],
    ['bytes', Buffer.from('x'), 'bytes are not JSON'],
    ['an Error', new Error('no'), 'an Error is not JSON. Throw it'],
    ['a circle', circle, 'refers to itself'],
    [
      'structured with a Date',
      { text: 'x', structured: { at: new Date(0) } },
      'structured output: at "at": a Date',
    ],
    ['a text that is not a string', { text: 5 }, 'text must be a string'],
    ['content that is not a list', { content: 'hello' }, 'such a member as { structured: value }'],
  ])('answers invalid_tool_output for %s, and says where', async (_, value, message) => {
    const { error } = await run(value);
    expect(error).toMatchObject({ code: 'invalid_tool_output', details: { executed: 'yes' } });
    expect(error?.message).toContain(message);
  });

  it('is checked against its output schema, even if it is a text', async () => {
    const tool = (output: object, value: unknown): Tool =>
      defineTool({
        name: 't',
        description: 't',
        input: { type: 'object' },
        output: output as { readonly type: 'string' },
        effects: () => [],
        execute: () => value as never,
      });
    const answer = (output: object, value: unknown) => executorOf([tool(output, value)]).execute('t', {});
    const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };
    expect(await answer(schema, { n: 1 })).toMatchObject({
      success: true,
      structured: { n: 1 },
      output: '{"n":1}',
    });
    expect((await answer(schema, { n: 'x' })).error?.code).toBe('invalid_tool_output');
    expect((await answer(schema, 'x')).error?.message).toContain('returned only text');
    expect(await answer({ type: 'string' }, 'x')).toMatchObject({ output: 'x', structured: 'x' });
    expect(await answer({ type: 'null' }, null)).toMatchObject({ output: 'null', structured: null });
  });
});

describe('a tool that returns content', () => {
  it('has its blocks in the result, and an output that says them in words', async () => {
    const content: readonly ContentBlock[] = [
      { type: 'text', text: 'Here:' },
      image,
      { type: 'audio', mediaType: 'audio/wav', data: new Uint8Array(12_345) },
      {
        type: 'resource_link',
        uri: 'https://a.test/x',
        name: 'x',
        mediaType: 'text/html',
        description: 'the page',
      },
      { type: 'resource', uri: 'file:///a.txt', mediaType: 'text/plain', text: 'inside' },
      { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data: Uint8Array.of(1) },
    ];
    const result = await run({ content });
    expect(result.content).toStrictEqual(content);
    expect(result.output.split('\n')).toEqual([
      'Here:',
      '[image image/png, 6 bytes]',
      '[audio audio/wav, 12,345 bytes]',
      '[resource_link "x" https://a.test/x, text/html: the page]',
      '[resource file:///a.txt text/plain]',
      'inside',
      '[resource file:///a.pdf application/pdf, 1 byte]',
    ]);
    expect(await run({ text: 'mine', content })).toMatchObject({ output: 'mine', content });
  });

  it('has its own copy of the bytes, which are base64 in JSON', async () => {
    const data = Buffer.from(PNG);
    const result = await run({ content: [{ ...image, data }] });
    data.fill(0);
    const [block] = result.content ?? [];
    expect(block).toStrictEqual(image);
    expect(Object.isFrozen(block)).toBe(true);
    expect(JSON.parse(JSON.stringify(result)).content).toEqual([
      { type: 'image', mediaType: 'image/png', data: Buffer.from(PNG).toString('base64') },
    ]);
  });

  it.each([
    [[5], 'content[0] must be an object'],
    [[{ type: 'video' }], 'content[0] must have a type'],
    [[{ type: 'text' }], 'content[0] must have a text'],
    [[image, { ...image, data: 'iVBORw0KGgo=' }], 'content[1] must have a Uint8Array as data'],
    [[{ ...image, data: new Uint8Array() }], 'data that is not empty'],
    [[{ ...image, mediaType: 'audio/wav' }], 'mediaType that begins with "image/"'],
    [[{ ...image, mediaType: 'png' }], 'must have a mediaType such as "image/png"'],
    [[{ type: 'resource_link', uri: 'x:y' }], 'must have a uri and a name'],
    [[{ type: 'resource', uri: 'x:y' }], 'must have one of text and data'],
    [[{ type: 'resource', uri: 'x:y', text: 'a', data: PNG }], 'must have one of text and data'],
  ])('is refused where a block is wrong: %j', async (content, message) => {
    const { error } = await run({ content });
    expect(error?.code).toBe('invalid_tool_output');
    expect(error?.message).toContain(message);
  });

  it('has its texts neutralised and redacted', async () => {
    const key = `sk-ant-${'a1B2'.repeat(12)}`;
    const { content, output } = await run({
      content: [
        { type: 'text', text: `\u001b[31mred\u001b[0m ${key}` },
        { type: 'resource', uri: `https://a.test/\u0007${key}`, text: key },
      ],
    });
    expect(content).toMatchObject([{ text: 'red [REDACTED]' }, { text: '[REDACTED]' }]);
    expect(JSON.stringify([content, output])).not.toContain(key);
    expect(JSON.stringify([content, output])).not.toContain('\\u0007');
  });

  it('has its texts cut together, and all of them can be read', async () => {
    const content = [{ type: 'text', text: 'a'.repeat(600) }, image, { type: 'text', text: 'b'.repeat(900) }];
    const tool = probeTool('t', () => ({ content }));
    const executor = createExecutor({
      policy: null,
      approver: null,
      tools: [tool],
      output: { maxBytes: 1_000 },
    });
    opened.push(executor);
    const result = await executor.execute('t', {});
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(result.output)).toBeLessThanOrEqual(1_000);
    expect(result.content?.map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    expect(result.content?.[0]).toEqual(content[0]);
    expect(result.output.endsWith('... [output truncated]')).toBe(true);
    expect(result.outputRef).toMatch(/^toolexec-output:/);
    const capacity = await executor.execute('t', {}, { availableCapacityBytes: 100 });
    expect(capacity.content).toMatchObject([{ type: 'text' }, image]);
    expect(Buffer.byteLength(capacity.output)).toBeLessThan(150);
  });

  it('has a line in the place of a block that is too large, and read_file gives it', async () => {
    const { builtinTools } = await import('../builtin-tools.js');
    const large = { ...image, data: Buffer.concat([PNG_HEAD, Buffer.alloc(500)]) };
    const tool = probeTool('t', () => ({ content: [image, large, image] }));
    const executor = executorOf([...builtinTools(), tool], { output: { maxContentBytes: 510 } });
    const result = await executor.execute('t', {});
    expect(result).toMatchObject({ success: true, truncated: true });
    expect(result.content).toMatchObject([image, { type: 'text' }, image]);
    const [, line] = result.content ?? [];
    expect(line).toMatchObject({ text: expect.stringContaining('[image image/png, 508 bytes: left out') });
    expect(line).toMatchObject({ text: expect.stringContaining(String(result.outputRef)) });
    const read = await executor.execute('read_file', { path: String(result.outputRef) });
    expect(read.content).toMatchObject([
      { type: 'image', mediaType: 'image/png', data: new Uint8Array(large.data) },
    ]);
  });

  it('survives middleware that copies, changes or replaces the result', async () => {
    const copying: Middleware = async (_call, _context, next) => ({ ...(await next()), metadata: { n: 1 } });
    const result = await run({ content: [image] }, { middleware: [copying] });
    expect(result).toMatchObject({
      output: '[image image/png, 6 bytes]',
      content: [image],
      metadata: { n: 1 },
    });
    expect(JSON.stringify(result)).toContain(Buffer.from(PNG).toString('base64'));
    const shrinking: Middleware = async (_call, _context, next) => ({
      ...(await next()),
      content: [{ ...image, data: PNG.subarray(0, 2) }],
    });
    const shrunk = await run({ content: [image] }, { middleware: [shrinking] });
    expect(shrunk.output).toBe('[image image/png, 2 bytes]');
    const wrong = (async (_call: unknown, _context: unknown, next: () => Promise<object>) => ({
      ...(await next()),
      content: [{ type: 'image' }],
    })) as unknown as Middleware;
    expect((await run('x', { middleware: [wrong] })).error?.code).toBe('invalid_tool_output');
  });

  it('is kept beside a failure, and gone where the call was answered without the tool', async () => {
    const failed = await run({ content: [image], error: { message: 'half done' } });
    expect(failed).toMatchObject({ success: false, content: [image], error: { message: 'half done' } });
  });

  it('is answered from the journal in another executor, and from a tape of an export', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'toolexec-content-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const journal = join(directory, 'journal.db');
    const pdf = { type: 'resource', uri: 'file:///a.pdf', mediaType: 'application/pdf', data: PNG } as const;
    const tool = probeTool('t', () => ({ content: [image, pdf] }));
    const calls = [{ id: 'c', name: 't', args: {} }];
    const once = async (): Promise<readonly ToolResult[]> => {
      await using executor = createExecutor({ policy: null, approver: null, tools: [tool], journal });
      return await executor.run(calls, { conversation: 'k' });
    };
    const [first] = await once();
    const [again] = await once();
    expect(again).toEqual({ ...first, metadata: { ...first?.metadata, replayed: true } });
    expect(again?.content).toStrictEqual([image, pdf]);
    const line = JSON.stringify({ kind: 'call', toolName: 't', args: {}, result: first });
    await using replaying = createExecutor({ ...createTape(line).options });
    const [taped] = await replaying.run(calls);
    expect(taped?.content).toStrictEqual([image, pdf]);
    expect(taped?.output).toBe(first?.output);
  });

  it('is in the completed event as in the result', async () => {
    const batch = executorOf([probeTool('t', () => ({ content: [image] }))]).start([
      { id: 'c', name: 't', args: {} },
    ]);
    const events = [];
    for await (const event of batch.events) events.push(event);
    const [result] = await batch.results;
    expect(events.at(-1)).toMatchObject({ type: 'completed', result: { content: [image] } });
    expect(result?.content).toEqual([image]);
  });
});

const PNG_HEAD = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
