// Every function that the package exports, called as a program without types may call it: each parameter in turn, and
// all of them, with a value of the wrong type. A result is fine; an error has a code of ours.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as aiSdk from '../../src/ai-sdk.js';
import * as claudeAgent from '../../src/claude-agent.js';
import * as fleet from '../../src/fleet.js';
import * as hosts from '../../src/hosts.js';
import * as main from '../../src/index.js';
import * as langchain from '../../src/langchain.js';
import * as lp1 from '../../src/lp1.js';
import * as mcp from '../../src/mcp.js';
import * as models from '../../src/models.js';
import * as openaiAgents from '../../src/openai-agents.js';
import * as otel from '../../src/otel.js';
import * as output from '../../src/output.js';
import * as policy from '../../src/policy.js';
import * as processes from '../../src/process.js';
import * as protocols from '../../src/protocols.js';
import * as sandboxes from '../../src/sandbox.js';
import * as testing from '../../src/testing.js';

type Callable = (...given: never[]) => unknown;

const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-requirements-')));
writeFileSync(join(root, 'a.txt'), 'a\n');
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The text is a path, so that a function that takes one stays in the folder of this test. */
const WRONG: readonly unknown[] = [
  ...[undefined, null, 5, Number.NaN, -1, 10n, true, '', join(root, 'wrong'), Symbol('wrong'), () => 5],
  ...[{}, [], [null], [5], [{}], { a: null }, Object.create(null), new Map(), new Date(Number.NaN)],
];

const tool = main.defineTool({
  name: 't',
  description: 'd',
  input: { type: 'object' },
  effects: () => [],
  execute: () => 'ok',
});
const executor = main.createExecutor({ tools: [tool], root, approver: null });
const model = testing.createScriptedModel([]);
const registry = main.createRegistry([tool]);
const cache = main.createResultCache();
const sandbox = sandboxes.createSandbox({ roots: [root] });
const shells = new processes.ShellManager();
const call = { id: 'a', name: 't', args: {} };
const [result] = await executor.run([call]);
const request = { callId: 'a', toolName: 't', summary: 's', risk: 'low', args: {}, effects: [], reason: 'r' };
const patch = lp1.parsePatch('LP1\nF a.txt\nT\nb\n.\nEND\n');
const host = [executor, { conversation: 'c' }];
const remote = [{ model: 'm', apiKey: 'k' }];

/** Valid arguments of each exported function, by door. A function that is not listed here fails the test. */
const DOORS: readonly (readonly [object, Readonly<Record<string, readonly unknown[]>>])[] = [
  [aiSdk, { aiTools: host }],
  [claudeAgent, { claudeAgent: host }],
  [
    fleet,
    {
      createFleetServer: [{ journal: join(root, 'no.db'), listen: '0' }],
      createWorker: [{ journal: join(root, 'no.db'), tools: [tool], root }],
      graphileDispatcher: [{ connectionString: 'postgres://127.0.0.1:1/none' }],
      pgBossDispatcher: [{ connectionString: 'postgres://127.0.0.1:1/none' }],
      postgresJournal: [{ url: 'postgres://127.0.0.1:1/none' }],
      s3Objects: [{ bucket: 'b' }],
    },
  ],
  [hosts, { resultContent: [result, 'mcp'] }],
  [
    main,
    {
      ToolError: ['bad_args', 'm', {}],
      builtinTools: [{}],
      commandAgents: [{ command: 'true' }],
      createExecutor: [{ root }],
      createMetrics: [],
      createRegistry: [[tool]],
      createResultCache: [{}, { monotonic: () => 0 }],
      createTiming: [{}],
      createToolLoop: [{ executor, model }],
      defineTool: [{ name: 't', description: 'd', input: { type: 'object' }, execute: () => 'ok' }],
      describeRequest: [request],
      discoverTools: [root, {}],
      isToolError: [new main.ToolError('bad_args', 'm'), 'bad_args'],
      loadConfig: [{ cwd: root }],
      loggingMiddleware: [console],
      modelAgents: [{ model }],
      openJournal: [join(root, 'journal.db'), {}],
    },
  ],
  [langchain, { langchainTools: host }],
  [lp1, { applyPatch: [patch, () => new Uint8Array()], parsePatch: ['LP1\nEND\n'] }],
  [
    mcp,
    {
      createMcpServer: [executor, {}],
      mcpTools: [{ callTool: async () => ({}), listTools: async () => ({ tools: [] }) }, { name: 'n' }],
    },
  ],
  [
    models,
    { ModelError: ['m', {}], anthropic: remote, gemini: remote, openai: remote, openaiResponses: remote },
  ],
  [openaiAgents, { agentTools: host }],
  [otel, { otel: [{}] }],
  [
    output,
    {
      createSanitizer: ['output'],
      redact: ['text', {}],
      sanitize: ['text', 'output'],
      truncate: ['text', 2],
    },
  ],
  [policy, { analyzeCommand: ['ls', 'bash'], createPolicy: [{}, {}] }],
  [
    processes,
    {
      ShellManager: [{}],
      commandEnvironment: [{ A: 'a' }, {}],
      removedValues: [{ A: 'a' }, { A: 'a' }],
      sanitizeEnvironment: [{ A: 'a' }, {}],
    },
  ],
  [
    protocols,
    {
      answerReadErrors: [[result], [{ index: 0, message: 'm' }]],
      createCallStream: ['anthropic', {}],
      describeTools: ['anthropic', [tool]],
      parseToolBlocks: ['text', {}],
      readCalls: [{ id: 'a', name: 't', args: {} }, {}],
      repairHistory: [[], { format: 'openai' }],
      writeResults: ['anthropic', [result], { origins: [] }],
    },
  ],
  [sandboxes, { createSandbox: [{ roots: [root] }] }],
  [
    testing,
    {
      createScriptedModel: [[]],
      createTape: [{}],
      describeJournal: ['n', () => ({}), { describe: () => {}, it: () => {} }],
      runCrashTrial: [{}],
    },
  ],
];

/** The same for methods of what they give. */
const METHODS: readonly (readonly [object, Readonly<Record<string, readonly unknown[]>>])[] = [
  [
    executor,
    {
      approve: ['12345678', {}],
      ask: [call, { conversation: 'c' }],
      decide: ['12345678', { kind: 'deny_all' }],
      definitions: [],
      execute: ['t', {}, {}],
      invoke: ['t', {}, {}],
      mark: ['c', 'clean'],
      narrow: [{ tools: ['t'] }],
      plan: [[call], {}],
      preview: [[call], {}],
      readOutput: ['output:x', {}],
      receive: [{}],
      recover: [],
      run: [[call], {}],
      start: [[call], {}],
      transcript: ['c'],
      undo: ['a', {}],
      waiting: [{}],
    },
  ],
  [registry, { find: ['t'], get: ['t'], has: ['t'], register: [tool] }],
  [cache, { clear: [] }],
  [sandbox, { resolve: ['a.txt'] }],
  [
    sandbox.files,
    {
      list: ['.'],
      read: ['a.txt', {}],
      remove: ['none.txt'],
      rename: ['none.txt', 'other.txt'],
      stat: ['a.txt'],
      write: ['b.txt', new Uint8Array(1), { mode: 'overwrite' }],
    },
  ],
  [
    shells,
    {
      cleanupCompleted: [1],
      createShell: ['true', root, {}],
      getShell: ['shell_1'],
      killAll: [],
      listRunning: [],
      listShells: [],
      registerShell: [{}],
      removeShell: ['shell_1'],
    },
  ],
  [policy.createPolicy(), { decide: [{ name: 't', sideEffecting: false, requiresApproval: false }] }],
  [output.createSanitizer(), { end: [], push: ['text'] }],
  [protocols.createCallStream('anthropic'), { end: [], push: [{ type: 'ping' }] }],
  [protocols.readCalls({ id: 'a', name: 't', args: {} }), { answer: [[result]] }],
  [main.ToolError, { fromJSON: [{ code: 'bad_args', message: 'm' }] }],
];

const CANNOT_BE_TEXT = /Cannot convert (?:a Symbol value to a string|object to primitive value)$/;

function variantsOf(valid: readonly unknown[]): readonly (readonly unknown[])[] {
  const each = valid.flatMap((_, at) => WRONG.map((value) => valid.with(at, value)));
  return [...each, ...WRONG.map((value) => valid.map(() => value)), WRONG.slice(0, 1)];
}

/** What is wrong with the outcome of a call; undefined if nothing is. */
async function faultOf(invoke: (given: readonly unknown[]) => unknown, given: readonly unknown[]) {
  try {
    const value = await invoke(given);
    const { results, close }: { results?: unknown; close?: unknown } = Object(value);
    if (results instanceof Promise) await results;
    if (typeof close === 'function') await close.call(value);
    return undefined;
  } catch (error) {
    const isOurs = main.isToolError(error) && error.message.length > 10 && !/\[object /.test(error.message);
    return isOurs ? undefined : `${given.map(nameOf).join(', ')} → ${String(error)}`;
  }
}

const nameOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? (value.constructor?.name ?? 'null prototype') : String(value);

async function faultsOf(invoke: (given: readonly unknown[]) => unknown, valid: readonly unknown[]) {
  const faults: string[] = [];
  for (const given of variantsOf(valid)) {
    const fault = await faultOf(invoke, given);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

describe('a value of the wrong type', () => {
  it.each(
    DOORS.flatMap(([door, functions]) =>
      Object.keys(door).map((name) => [name, door, functions[name]] as const),
    ),
  )(
    '%s() answers it, or refuses it with a code',
    async (name, door, valid) => {
      const exported: unknown = Reflect.get(door, name);
      if (typeof exported !== 'function') return;
      expect(valid, `${name} has no row`).toBeDefined();
      const isClass = String(exported).startsWith('class');
      const invoke = (given: readonly unknown[]): unknown =>
        isClass ? Reflect.construct(exported, given) : Reflect.apply(exported as Callable, undefined, given);
      const faults = await faultsOf(invoke, valid ?? []);
      // An error converts its message to a text, as every Error does, and some values convert to none.
      const isError = exported.prototype instanceof Error;
      expect(faults.filter((fault) => !(isError && CANNOT_BE_TEXT.test(fault)))).toEqual([]);
    },
    60_000,
  );

  it.each(
    METHODS.flatMap(([value, methods]) =>
      Object.entries(methods).map(([name, valid]) => [name, value, valid] as const),
    ),
  )(
    'the method %s() answers it, or refuses it with a code',
    async (name, value, valid) => {
      const method: Callable = Reflect.get(value, name);
      expect(await faultsOf((given) => Reflect.apply(method, value, given), valid)).toEqual([]);
    },
    60_000,
  );
});
