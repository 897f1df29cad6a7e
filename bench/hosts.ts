import { writeFileSync } from 'node:fs';
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
import { type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

/** As in `built.ts`; loaded here, because other measurements have no use for their packages. */
const NAME: string = 'toolexec';
const toolexecAiSdk: typeof import('../src/ai-sdk.js') = await import(`${NAME}/ai-sdk`);
const toolexecOtel: typeof import('../src/otel.js') = await import(`${NAME}/otel`);

const STEPS = 100;
const TICKETS = 200;
const READS = 50;

/** Our tools in the AI SDK, the cost of a ticket, and the cost of tracing. */
export async function measureHosts(scale: Scale): Promise<readonly Row[]> {
  const rounds = scale === 'quick' ? { rounds: 3, warmUps: 1 } : { rounds: 30, warmUps: 5 };
  return [await besideOwnTool(rounds), await ticketRow(rounds), ...(await tracingRows(rounds))];
}

/** An agent of 100 steps, one call each. */
async function besideOwnTool(rounds: RoundOptions): Promise<Row> {
  await using executor = toolexec.createExecutor({ tools: [noOpTool()] });
  const own: ToolSet = {
    noop: dynamicTool({
      description: 'Does nothing.',
      inputSchema: jsonSchema(SCHEMA),
      execute: async (input) => String((input as { message: string }).message),
    }),
  };
  let chat = 0;
  const agent = (settings: () => { tools: ToolSet }): Contender => ({
    units: STEPS,
    async run() {
      const options = { model: stepModel(), prompt: 'x', stopWhen: isStepCount(STEPS + 1) };
      const { steps } = await generateText({ ...options, ...settings() });
      if (steps.length !== STEPS + 1) throw new Error(`${steps.length} steps`);
    },
  });
  const { ours, theirs } = await interleave(
    {
      ours: agent(() => toolexecAiSdk.aiTools(executor, { conversation: `chat ${chat++}` })),
      theirs: agent(() => ({ tools: own })),
    },
    rounds,
  );
  const goal = { of: 'ratio', atMost: 1.2 } as const;
  return toRow('a step of 100 in the AI SDK', ours, ["the SDK's own tool", theirs], {
    computing: true,
    goal,
  });
}

const SCHEMA = {
  type: 'object' as const,
  required: ['message', 'count'],
  properties: { message: { type: 'string' as const }, count: { type: 'integer' as const } },
};

/**
 * Calls the tool a number of times, then answers that it is done. It keeps its requests, so each run gets a
 * new one.
 */
function stepModel(): MockLanguageModelV4 {
  let step = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      step += 1;
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
    },
  });
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
    await using traced = toolexec.createExecutor({ root, tools, telemetry, cache: false });
    await using plain = toolexec.createExecutor({ root, tools, cache: false });
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
    const { read, bareRead, byHand, noop, bareNoop } = await interleave(
      {
        read: repeat(traced, 'read_file', { path: 'a.txt' }, READS),
        bareRead: repeat(plain, 'read_file', { path: 'a.txt' }, READS),
        byHand: repeat(plain, 'read_file', { path: 'a.txt' }, READS, () => spansByHand(tracer)),
        noop: repeat(traced, 'noop', { message: 'x', count: 1 }, 20 * READS),
        bareNoop: repeat(plain, 'noop', { message: 'x', count: 1 }, 20 * READS),
      },
      rounds,
    );
    const goal = { of: 'ratio', atMost: 1.15 } as const;
    return [
      toRow('a file read, traced', read, ['not traced', bareRead], { computing: false, goal }),
      toRow('three spans by hand around it', byHand, ['not traced', bareRead], { computing: false }),
      toRow('a call that does nothing, traced', noop, ['not traced', bareNoop], { computing: true }),
    ];
  });
}
