import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport, type JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import type { Asker } from '../contract/question.js';
import { createExecutor } from '../executor/create-executor.js';
import { ERAS } from './fixtures/connect.js';
import { mcpTools } from './mcp-tools.js';
import { hidesText, isPlain, plainDefinition } from './plain-definition.js';
import { SpawnTransport } from './spawn-transport.js';
import { readPins, type SeenTool, writePins } from './tool-pins.js';
import { problemIn } from './upstream-result.js';

// A key in two parts, so that no scanner mistakes this file for a leak.
const FAILURE = JSON.stringify({
  error: `no gh${'p_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5'}`,
  more: 'x'.repeat(500_000),
});
const inputSchema = { type: 'object' as const };
const TOOLS = ['ask', '__proto__', 'constructor', 'a\u001b[31m\nb'];

/** A server in the revision that allows questions at any time, behind an executor. */
async function open(description: string, asker?: Asker, more: readonly SeenTool[] = []) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = new Server(
    { name: 'up', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  let lists = 0;
  server.setRequestHandler('tools/list', () => {
    lists += 1;
    return {
      tools: [
        ...TOOLS.map((name) => ({ name, inputSchema })),
        { name: 'long', description, inputSchema },
        ...more,
      ],
    };
  });
  server.setRequestHandler('tools/call', async ({ params: { name } }) => {
    if (name === 'fail') return { content: [{ type: 'text', text: FAILURE }], isError: true };
    const params = { message: 'again?', requestedSchema: { type: 'object' as const, properties: {} } };
    const asked = Array.from({ length: 60 }, () => server.elicitInput(params));
    const actions = (await Promise.all(asked)).map(({ action }) => action);
    return { content: [{ type: 'text', text: actions.join(' ') }] };
  });
  await server.connect(ours);
  const client = new Client(
    { name: 'tests', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'legacy' } },
  );
  await client.connect(theirs);
  const executor = createExecutor({
    tools: [await mcpTools(client, { name: 'up', pins: false })],
    policy: null,
    approver: null,
    journal: false,
    ...(asker === undefined ? {} : { asker }),
  });
  onTestFinished(async () => {
    await executor.close();
    await client.close();
  });
  return { executor, server, lists: () => lists };
}

it('a description of megabytes reached the model', async () => {
  const { executor } = await open('Obey. '.repeat(1_000_000));
  expect(executor.definitions().map(({ name }) => name)).toEqual([
    'up____proto__',
    expect.stringMatching(/^up__a__31m_b_h[0-9a-f]{10}$/),
    'up__ask',
    'up__constructor',
  ]);
  const { error } = await executor.execute('up__long', {});
  expect(error).toMatchObject({ code: 'unknown_tool', message: expect.stringContaining('at most 100000') });
});

it('characters that a person does not see reached the model in a schema, or in the name of a tool', async () => {
  const of = (name: string, properties: Record<string, JsonObject>): SeenTool => ({
    name,
    description: 'Plain.',
    inputSchema: { type: 'object', properties } as SeenTool['inputSchema'],
  });
  const advice = { type: 'string', default: 'a\u{e0041}', examples: ['b\u202e', ['c\u200b']] };
  const tools = [
    of('advice', { a: advice, default: { type: 'string' } }),
    of('names', { 'a\u{e0041}': { type: 'string' } }),
    of('values', { a: { enum: ['yes', 'n\u{e0041}o'] } }),
    { name: 'call\u200bed', inputSchema },
  ];
  for (const tool of tools) expect(hidesText(tool)).toBe(true);
  const { executor } = await open('', undefined, tools);
  const definitions = executor.definitions();
  expect(JSON.stringify(definitions)).not.toMatch(/[\u200b\u202e\u{e0041}]/u);
  expect(definitions.find(({ name }) => name === 'up__advice')?.inputSchema).toMatchObject({
    properties: { a: { default: 'a', examples: ['b', ['c']] }, default: { type: 'string' } },
  });
  for (const name of ['up__names', 'up__values']) {
    const { error } = await executor.execute(name, {});
    expect(error).toMatchObject({ message: expect.stringContaining('invisible characters') });
  }
});

it('takes no tool for plain that contains a character which a person does not see', () => {
  const plain: number[] = [];
  for (const code of [...Array.from({ length: 0x2100 }, (_, at) => at), 0xd800, 0xdc00, 0xfeff, 0xe0041]) {
    const tool: SeenTool = { name: 'a', description: `a${String.fromCodePoint(code)}u`, inputSchema };
    if (!isPlain(JSON.stringify(tool))) continue;
    plain.push(code);
    expect(plainDefinition(tool), `U+${code.toString(16)}`).toEqual(tool);
  }
  expect(plain).toEqual(expect.arrayContaining([9, 10, 32, 65, 126]));
  expect(plain.every((code) => code === 9 || code === 10 || (code >= 32 && code <= 126))).toBe(true);
});

it('the failure of a server that was a JSON object reached the model whole, with all keys in it', async () => {
  const { executor } = await open('', undefined, [{ name: 'fail', inputSchema }]);
  const { error, outputRef } = await executor.execute('up__fail', {});
  expect(error?.message).toContain('The server said: {"error":"no [REDACTED]"');
  expect(error?.message.length).toBeLessThan(FAILURE.length / 2);
  expect(outputRef).toBeDefined();
});

it('a server that asked 60 questions in one call put them all to the person at once', async () => {
  let asked = 0;
  let shown = 0;
  const { executor } = await open('', async (questions) => {
    asked += 1;
    shown += 1;
    expect(shown).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    shown -= 1;
    return questions.map(({ options }) => ({ chosen: options.slice(0, 1).map(({ label }) => label) }));
  });
  const { output } = await executor.execute('up__ask', {});
  expect(output.match(/accept/g)).toHaveLength(20);
  expect(output.match(/decline/g)).toHaveLength(40);
  expect(asked).toBe(20);
});

it('a server that said 300 times that its list had changed was asked for it 300 times', async () => {
  const { server, lists } = await open('');
  for (let time = 0; time < 300; time++) await server.sendToolListChanged();
  await expect.poll(lists).toBeGreaterThan(2);
  expect(lists()).toBeLessThan(50);
});

it('the pins of a server with the name of a member of every object could not be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-pins-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.stubEnv('XDG_STATE_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(readPins('constructor')).toBeUndefined();
  writePins('constructor', [{ name: 'echo', inputSchema }]);
  expect(readPins('constructor')?.get('echo')).toMatchObject({ name: 'echo' });
  expect(readPins('toString')).toBeUndefined();
});

it('pins of more than 4 MB were written, and then no gateway could read any pins', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-pins-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.stubEnv('XDG_STATE_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const tools = (megabytes: number): SeenTool[] =>
    Array.from({ length: megabytes }, (_, at) => ({
      name: `tool_${at}`,
      description: 'a'.repeat(1024 * 1024),
      inputSchema,
    }));
  writePins('large', tools(5));
  expect(readPins('large')?.size).toBe(5);
  expect(() => writePins('larger', tools(28))).toThrow(
    /^Cannot pin the tools of larger: .* at most 33554432/,
  );
  expect(readPins('large')?.size).toBe(5);
  expect(readPins('larger')).toBeUndefined();
});

it('the tools of a server with annotations were all said to contain invisible characters', () => {
  const plain = {
    name: 'echo',
    description: 'Says it back.',
    inputSchema,
    annotations: { readOnlyHint: true },
  };
  expect(hidesText(plain)).toBe(false);
  // The SDK's form for a tool without results.
  expect(hidesText({ ...plain, outputSchema: undefined } as never)).toBe(false);
  expect(hidesText({ ...plain, description: 'Says\u200b it back.' })).toBe(true);
});

it('an answer that violates the protocol was reported with everything that a schema expects, as JSON', () => {
  const issues = [
    {
      expected: 'string',
      code: 'invalid_type',
      path: ['tools', 1, 'title'],
      message: 'expected string, received null',
    },
    {
      expected: 'object',
      code: 'invalid_type',
      path: ['tools', 1, 'annotations'],
      message: 'expected object',
    },
  ];
  expect(problemIn(new Error(`Invalid result for tools/list: ${JSON.stringify(issues, null, 2)}`))).toBe(
    'Invalid result for tools/list: tools.1.title: expected string, received null (and 1 more)',
  );
  for (const other of ['it is closed.', 'a list: []', 'a list: [x]'])
    expect(problemIn(new Error(other))).toBe(other);
});

it('a server that wrote a line without an end kept the process busy for minutes', async () => {
  const script =
    'const some = "y".repeat(1 << 20); for (let n = 0; n < 100; n++) process.stdout.write(some);';
  const problems: string[] = [];
  const transport = new SpawnTransport({
    file: process.execPath,
    args: ['-e', `${script} setTimeout(() => {}, 60_000);`],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    confinement: { os: 'off', network: false, roots: [], readable: [] },
    guarded: { hidden: [], readOnly: [] },
  });
  transport.onerror = ({ message }) => problems.push(message);
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  const before = process.cpuUsage();
  await transport.start();
  await ended;
  const { user, system } = process.cpuUsage(before);
  expect(problems).toEqual([expect.stringContaining('has more than')]);
  expect((user + system) / 1_000).toBeLessThan(3_000);
});

it('half a line that a server printed took the next answer with it', async () => {
  const script = `
    const answer = (id, value) => ({ result: { value }, jsonrpc: '2.0', id });
    const print = (text) => process.stdout.write(text);
    process.stdin.once('data', () => {
      print('50 % {');
      setTimeout(() => print(JSON.stringify(answer(1, 'é')) + '\\r\\n'), 50);
      setTimeout(() => print('got {"jsonrpc":"2.0","id":7,"method":"tools/call"}\\n'), 100);
      setTimeout(() => print('{"a":{"id":1}} {"id":2,"jsonrpc":"2.0","error":{"code":1,"message":"no"}}\\n'), 150);
      setTimeout(() => print('only text\\n\\n' + JSON.stringify(answer(3, '{"id":4}')) + '\\n'), 200);
      setTimeout(() => process.exit(), 250);
    });`;
  const transport = new SpawnTransport({
    file: process.execPath,
    args: ['-e', script],
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '' },
    confinement: { os: 'off', network: false, roots: [], readable: [] },
    guarded: { hidden: [], readOnly: [] },
  });
  const received: unknown[] = [];
  transport.onmessage = (message) => received.push(message);
  const ended = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  await transport.start();
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await ended;
  expect(received).toMatchObject([
    { id: 1, result: { value: 'é' } },
    { id: 2, error: { message: 'no' } },
    { id: 3, result: { value: '{"id":4}' } },
  ]);
});

it.each(ERAS)('one malformed tool hid all tools of its server, in revision %s', async (era) => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const of = (name: unknown, schema: unknown = inputSchema) => ({ name, inputSchema: schema });
  const tools: unknown[] = [
    of('good'),
    of('text', { type: 'string' }),
    of('bare', null),
    { name: 'titled', title: 5, inputSchema },
    of('dialect', { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }),
    of(
      'deep',
      Array.from({ length: 300 }).reduce((inner) => ({ type: 'object', properties: { inner } }), {}),
    ),
    { ...of('result'), outputSchema: { $schema: 'https://schemas.test/own', type: 'object' } },
    of('pattern', { type: 'object', properties: { a: { pattern: '((' } } }),
    of('type', { type: 'object', properties: { a: { type: 'strng' } } }),
    { ...of('away'), outputSchema: { type: 'object', properties: { a: { $ref: 'https://x.test/a' } } } },
    { name: 'task', inputSchema, execution: { taskSupport: 'required' } },
    of('twice'),
    of(7),
    null,
    of('twice'),
    of('x'.repeat(500), 1),
  ];
  const more =
    era === '2025-11-25' ? {} : { resultType: 'complete', ttlMs: 0, cacheScope: 'private' as const };
  const found = {
    ...more,
    protocolVersion: '2025-11-25',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'up', version: '1' },
  };
  const answers: Readonly<Record<string, () => object>> = {
    initialize: () => found,
    ...(era === '2025-11-25' ? {} : { 'server/discover': () => found }),
    'tools/list': () => ({ ...more, tools }),
    'tools/call': () => ({ ...more, content: [{ type: 'text', text: 'called' }], tools: [null] }),
  };
  theirs.onmessage = (message) => {
    if (!('method' in message) || !('id' in message)) return;
    const answer = answers[message.method]?.();
    const refused = { error: { code: -32_601, message: 'unknown' } };
    void theirs.send({
      jsonrpc: '2.0',
      id: message.id,
      ...(answer === undefined ? refused : { result: answer }),
    } as JSONRPCMessage);
  };
  await theirs.start();
  const client = new Client({ name: 'tests', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(ours);
  expect(client.getNegotiatedProtocolVersion()).toBe(era);
  const source = await mcpTools(client, { name: 'up' });
  await using executor = createExecutor({ tools: [source], policy: null, approver: null, journal: false });
  const names = () => executor.definitions().map(({ name }) => name);
  expect(names()).toEqual(['up__good']);
  expect(await executor.execute('up__good', {})).toMatchObject({ output: 'called' });
  for (const [name, why] of [
    ['text', 'inputSchema.type: '],
    ['titled', 'title: '],
    ['twice', 'it is offered twice'],
    ['task', 'it runs only as a task'],
    ['dialect', 'Cannot use the input schema of up__dialect: its $schema is'],
    ['deep', 'Cannot use the input schema of up__deep: '],
    ['pattern', 'Cannot use the input schema of up__pattern: the pattern "((" is not'],
    ['type', 'Cannot use the input schema of up__type: /properties/a/type is "strng"'],
    ['away', 'Cannot use the output schema of up__away: '],
    ['result', 'Cannot use the output schema of up__result: its $schema is'],
  ] as const)
    expect((await executor.execute(`up__${name}`, {})).error?.message).toContain(
      `its definition cannot be used: ${why}`,
    );
  // The repaired tool counts as new.
  tools[1] = of('text');
  tools.push(of('later'));
  await theirs.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await expect
    .poll(async () => (await executor.execute('up__text', {})).error?.message)
    .toContain('it is new since its server was trusted');
  expect(names()).toEqual(['up__good']);
  await client.close();
});
