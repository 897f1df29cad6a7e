import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { context, type Tracer, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { dynamicTool, generateText, isStepCount, jsonSchema, type ToolSet } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { Executor, ToolResult } from '../src/index.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type RoundOptions } from './measure.js';
import { noOpTool } from './no-op.js';
import { NO_OP_INPUT } from './no-op-input.js';
import { type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

/** As in `built.ts`; loaded here, because other measurements have no use for their packages. */
const NAME: string = 'toolexec';
const toolexecAiSdk: typeof import('../src/ai-sdk.js') = await import(`${NAME}/ai-sdk`);
const toolexecOtel: typeof import('../src/otel.js') = await import(`${NAME}/otel`);

const STEPS = 100;
const TICKETS = 200;
const READS = 50;
const COMMANDS = 5;

/** Our tools in the AI SDK, the cost of a ticket, and the cost of tracing. */
export async function measureHosts(scale: Scale): Promise<readonly Row[]> {
  const rounds = scale === 'quick' ? { rounds: 3, warmUps: 1 } : { rounds: 30, warmUps: 5 };
  return [
    await besideOwnTool(rounds),
    await besideReadingTool(rounds),
    await ticketRow(rounds),
    ...(await tracingRows(rounds)),
  ];
}

/** An agent of 100 steps, one call each. Neither the model nor the tool does anything, so all that is left is overhead. */
async function besideOwnTool(rounds: RoundOptions): Promise<Row> {
  const own = async ({ message }: NoOpInput) => message;
  const compared = { ours: noOpTool(), own, answer: async (step: number) => answerOf(step), rounds };
  return compareAgents('a step of 100 in the AI SDK', compared);
}

/** The same with a model that answers over HTTP on this machine, and a tool that reads a file. */
function besideReadingTool(rounds: RoundOptions): Promise<Row> {
  return withDirectory(async (root) => {
    writeFileSync(join(root, 'a.txt'), 'a line of text\n'.repeat(100));
    const own = () => readFile(join(root, 'a.txt'), 'utf8');
    const ours = toolexec.defineTool({
      name: 'noop',
      description: 'Reads a file.',
      input: NO_OP_INPUT,
      effects: () => [{ kind: 'read', path: 'a.txt' }],
      execute: own,
    });
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        const step = Number(request.headers['x-step']);
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerOf(step)));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answer: Answering = async (step, prompt) => {
      const sent = { method: 'POST', headers: { 'x-step': String(step) }, body: JSON.stringify(prompt) };
      return (await (await fetch(url, sent)).json()) as ModelAnswer;
    };
    try {
      const what = 'the same, a model over HTTP and a tool that reads a file';
      return await compareAgents(what, { ours, own, answer, root, rounds });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
}

type NoOpInput = { readonly message: string; readonly count: number };
type ModelAnswer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type Answering = (step: number, prompt: unknown) => Promise<ModelAnswer>;

interface Agents {
  readonly ours: ReturnType<typeof noOpTool>;
  readonly own: (input: NoOpInput) => Promise<string>;
  readonly answer: Answering;
  readonly root?: string;
  readonly rounds: RoundOptions;
}

async function compareAgents(what: string, { ours, own, answer, root, rounds }: Agents): Promise<Row> {
  const place = root === undefined ? {} : { root };
  await using executor = toolexec.createExecutor({ ...place, tools: [ours], cache: false });
  const noop = dynamicTool({
    description: 'Does nothing.',
    inputSchema: jsonSchema(SCHEMA),
    execute: (input) => own(input as NoOpInput),
  });
  let chat = 0;
  const agent = (settings: () => { tools: ToolSet }): Contender => ({
    units: STEPS,
    async run() {
      const options = { model: stepModel(answer), prompt: 'x', stopWhen: isStepCount(STEPS + 1) };
      const { steps } = await generateText({ ...options, ...settings() });
      if (steps.length !== STEPS + 1) throw new Error(`${steps.length} steps`);
    },
  });
  const { mine, theirs } = await interleave(
    {
      mine: agent(() => toolexecAiSdk.aiTools(executor, { conversation: `chat ${chat++}` })),
      theirs: agent(() => ({ tools: { noop } })),
    },
    rounds,
  );
  const goal = { of: 'ratio', atMost: 1.2 } as const;
  return toRow(what, mine, ["the SDK's own tool", theirs], { computing: true, goal });
}

const SCHEMA = {
  type: 'object' as const,
  required: ['message', 'count'],
  properties: { message: { type: 'string' as const }, count: { type: 'integer' as const } },
};

/** It keeps its requests, so each run gets a new one. */
function stepModel(answer: Answering): MockLanguageModelV4 {
  let step = 0;
  return new MockLanguageModelV4({
    doGenerate: ({ prompt }) => {
      step += 1;
      return answer(step, prompt);
    },
  });
}

/** The tool is called a number of times, then the model says that it is done. */
function answerOf(step: number): ModelAnswer {
  const input = JSON.stringify({ message: 'x', count: step });
  const call = { type: 'tool-call' as const, toolCallId: `call_${step}`, toolName: 'noop', input };
  const isLast = step > STEPS;
  return {
    content: isLast ? [{ type: 'text', text: 'done' }] : [call],
    finishReason: { unified: isLast ? 'stop' : 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    },
    warnings: [],
  };
}

/** Ask, decide and run, beside the approver of the executor. */
async function ticketRow(rounds: RoundOptions): Promise<Row> {
  const tool = toolexec.defineTool({
    name: 'asks',
    description: 'Asks.',
    input: { type: 'object' },
    requiresApproval: true,
    effects: () => [],
    execute: () => 'done',
  });
  await using executor = toolexec.createExecutor({
    tools: [tool],
    approver: () => ({ kind: 'approve_all' }),
  });
  const conversation = 'chat';
  let next = 0;
  const callOf = () => ({ id: `call_${next++}`, name: 'asks', args: {} });
  const { tickets, approver } = await interleave(
    {
      tickets: {
        units: TICKETS,
        async run() {
          for (let done = 0; done < TICKETS; done++) {
            const call = callOf();
            const { ticket } = await executor.ask(call, { conversation });
            await executor.decide(ticket, { kind: 'approve_all' });
            requireSuccess(await executor.run([call], { conversation, ticket }));
          }
        },
      },
      approver: {
        units: TICKETS,
        async run() {
          for (let done = 0; done < TICKETS; done++)
            requireSuccess(await executor.run([callOf()], { conversation }));
        },
      },
    },
    rounds,
  );
  return toRow('ask, decide and run with a ticket', tickets, ['the approver', approver], { computing: true });
}

function requireSuccess([result]: readonly ToolResult[]): void {
  if (result?.success !== true) throw new Error(`failed: ${result?.error?.message}`);
}

/** As many spans as a call has, with as many attributes: what the SDK of OpenTelemetry costs alone. */
function spansByHand(tracer: Tracer): void {
  const attributes = { 'gen_ai.tool.name': 'read_file', 'gen_ai.tool.call.id': 'call' };
  const more = {
    operation: 'execute_tool',
    type: 'function',
    conversation: 'chat',
    description: 'd',
    risk: 'low',
  };
  const span = tracer.startSpan('execute_tool read_file', { attributes: { ...attributes, ...more } });
  const inside = trace.setSpan(context.active(), span);
  for (const name of ['toolexec.queue', 'toolexec.run']) tracer.startSpan(name, { attributes }, inside).end();
  span.end();
}

/** The same calls with spans, and without. */
function tracingRows(rounds: RoundOptions): Promise<readonly Row[]> {
  return withDirectory(async (root) => {
    writeFileSync(join(root, 'a.txt'), 'a\n'.repeat(100));
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const telemetry = toolexecOtel.otel({ tracerProvider });
    const tools = [noOpTool(), ...toolexec.builtinTools()];
    // Without the cache of results, so that every read opens the file.
    await using traced = toolexec.createExecutor({ root, tools, telemetry, cache: false, approver: null });
    await using plain = toolexec.createExecutor({ root, tools, cache: false, approver: null });
    const tracer = tracerProvider.getTracer('bare');
    const repeat = (
      executor: Executor,
      name: string,
      args: object,
      units: number,
      also = () => {},
    ): Contender => ({
      units,
      async run() {
        const call = { id: 'call', name, args: { ...args } };
        for (let done = 0; done < units; done++) {
          also();
          requireSuccess(await executor.run([call]));
        }
        exporter.reset();
      },
    });
    const { read, bareRead, byHand, command, bareCommand, noop, bareNoop } = await interleave(
      {
        read: repeat(traced, 'read_file', { path: 'a.txt' }, READS),
        bareRead: repeat(plain, 'read_file', { path: 'a.txt' }, READS),
        byHand: repeat(plain, 'read_file', { path: 'a.txt' }, READS, () => spansByHand(tracer)),
        command: repeat(traced, 'bash', { command: 'true' }, COMMANDS),
        bareCommand: repeat(plain, 'bash', { command: 'true' }, COMMANDS),
        noop: repeat(traced, 'noop', { message: 'x', count: 1 }, 20 * READS),
        bareNoop: repeat(plain, 'noop', { message: 'x', count: 1 }, 20 * READS),
      },
      rounds,
    );
    const goal = { of: 'ratio', atMost: 1.15 } as const;
    return [
      toRow('a file read, traced', read, ['not traced', bareRead], { computing: false, goal }),
      toRow('three spans by hand around it', byHand, ['not traced', bareRead], { computing: false }),
      toRow('a command, traced', command, ['not traced', bareCommand], { computing: false, goal }),
      toRow('a call that does nothing, traced', noop, ['not traced', bareNoop], { computing: true }),
    ];
  });
}
