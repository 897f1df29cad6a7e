import { context, metrics, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalDecision } from '../contract/approval.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { systemClock } from '../platform/clock/clock.js';
import { type OtelOptions, otel } from './otel.js';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  for (const api of [context, propagation, trace, metrics]) api.disable();
});

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const TOOLS = [
  defineTool({
    name: 'send',
    description: 'Sends.',
    input: { type: 'object', properties: { to: { type: 'string' }, key: { type: 'string' } } },
    requiresApproval: true,
    effects: () => [{ kind: 'fetch', url: 'https://example.org' }],
    execute: async (_, ctx) => {
      const inner = trace.getTracer('tool').startSpan('inner');
      await pause(20);
      inner.end();
      return `sent with ${ctx.trace?.traceparent}`;
    },
  }),
  defineTool({
    name: 'fail',
    description: 'Fails.',
    input: { type: 'object' },
    effects: () => [],
    execute: () => ({ text: 'log', error: { message: 'it broke on PRIVATE' } }),
  }),
];

function world(options: OtelOptions = {}, given: Partial<ExecutorOptions> = {}) {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measured, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  trace.disable();
  trace.setGlobalTracerProvider(tracerProvider);
  const approver = async (): Promise<ApprovalDecision> => {
    await pause(60);
    return { kind: 'approve_all' };
  };
  const executor = createExecutor({
    tools: TOOLS,
    root: folder(),
    policy: { mode: 'auto' },
    approver,
    telemetry: otel({ tracerProvider, meterProvider, ...options }),
    ...given,
  });
  const spans = () => exporter.getFinishedSpans();
  const histograms = async (): Promise<HistogramMetricData[]> => {
    await reader.forceFlush();
    const [last] = measured.getMetrics().slice(-1);
    return (last?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []) as HistogramMetricData[];
  };
  return {
    executor,
    tracer: tracerProvider.getTracer('host'),
    spans,
    span(name: string): ReadableSpan {
      const found = spans().find((each) => each.name === name);
      if (found === undefined) throw new Error(`no span ${name}, but ${spans().map((each) => each.name)}`);
      return found;
    },
    async boundaries(): Promise<Record<string, readonly number[]>> {
      return Object.fromEntries(
        (await histograms()).map(({ descriptor, dataPoints: [point] }) => [
          descriptor.name,
          point?.value.buckets.boundaries ?? [],
        ]),
      );
    },
    async durations(): Promise<Record<string, { sum: number; count: number; attributes: object }[]>> {
      return Object.fromEntries(
        (await histograms()).map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ value, attributes }) => ({
            sum: value.sum ?? 0,
            count: value.count,
            attributes,
          })),
        ]),
      );
    },
  };
}

const SEND = { id: 'c1', name: 'send', args: { to: 'ada', key: 'AKIAIOSFODNN7EXAMPLE' } };
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;

describe('otel()', () => {
  it('starts one span alone for a call whose trace is not recorded, and measures it all the same', async () => {
    const started: string[] = [];
    const sampler: Sampler = {
      shouldSample: (_context, _traceId, name) => {
        started.push(name);
        return { decision: SamplingDecision.NOT_RECORD };
      },
      toString: () => 'none',
    };
    const { executor, durations } = world({ tracerProvider: new BasicTracerProvider({ sampler }) });
    await using _ = executor;
    const [result] = await executor.run([SEND], { conversation: 'chat' });
    expect(result?.output).toMatch(/^sent with 00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(started).toEqual(['execute_tool send']);
    const measured = await durations();
    expect(measured['gen_ai.execute_tool.duration']?.[0]?.count).toBe(1);
    expect(measured['toolexec.approval.duration']?.[0]?.count).toBe(1);
  });

  it('makes a span of a call, with the waits and the run as children, and a tool’s own spans below the run', async () => {
    const { executor, span, spans } = world();
    await using _ = executor;
    const [result] = await executor.run([SEND], { conversation: 'chat' });
    const call = span('execute_tool send');
    expect(call.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'send',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.description': 'Sends.',
      'gen_ai.conversation.id': 'chat',
      'toolexec.risk': 'medium',
    });
    for (const name of ['toolexec.approval', 'toolexec.queue', 'toolexec.run']) {
      expect(parentOf(span(name))).toBe(call.spanContext().spanId);
    }
    const run = span('toolexec.run').spanContext();
    expect(parentOf(span('inner'))).toBe(run.spanId);
    expect(result?.output).toBe(`sent with 00-${run.traceId}-${run.spanId}-01`);
    expect(span('toolexec.approval').attributes['toolexec.approved']).toBe(true);
    expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toMatch(/ada|sent with/);
  });

  it('counts the wait for approval apart from the run', async () => {
    const approver = async (): Promise<ApprovalDecision> => {
      await pause(1_000);
      return { kind: 'approve_all' };
    };
    const { executor, durations } = world({}, { approver });
    await using _ = executor;
    await executor.run([SEND]);
    const measured = await durations();
    const [run] = measured['gen_ai.execute_tool.duration'] ?? [];
    const [approval] = measured['toolexec.approval.duration'] ?? [];
    expect(run).toMatchObject({ count: 1, attributes: { 'gen_ai.tool.name': 'send' } });
    expect(approval?.sum).toBeGreaterThan(0.9);
    expect(run?.sum).toBeLessThan(approval?.sum ?? 0);
    expect(measured['toolexec.queue.duration']).toHaveLength(1);
  });

  it('shows arguments and results on request only, redacted', async () => {
    const { executor, span } = world({ recordArguments: true, recordResults: true });
    await using _ = executor;
    await executor.run([SEND]);
    const { attributes } = span('execute_tool send');
    expect(attributes['gen_ai.tool.call.arguments']).toBe('{"to":"ada","key":"[REDACTED]"}');
    expect(attributes['gen_ai.tool.call.result']).toMatch(/^sent with/);
  });

  it('leaves out what the journal leaves out', async () => {
    const given = { journal: { redactArguments: ['send/to'] } };
    const { executor, span } = world({ recordArguments: true }, given);
    await using _ = executor;
    await executor.run([{ ...SEND, args: { to: 'lovelace-1815' } }], { conversation: 'chat' });
    expect(span('execute_tool send').attributes['gen_ai.tool.call.arguments']).not.toContain('lovelace');
  });

  it('marks failures with their code, without their words', async () => {
    const { executor, span, spans, durations } = world();
    await using _ = executor;
    await executor.run([
      { id: 'c1', name: 'fail', args: {} },
      { id: 'c2', name: 'nothing', args: {} },
    ]);
    const status = { code: SpanStatusCode.ERROR, message: 'execution_failed' };
    for (const name of ['execute_tool fail', 'toolexec.run']) expect(span(name).status).toEqual(status);
    expect(span('execute_tool nothing').attributes['error.type']).toBe('unknown_tool');
    expect(spans().filter(({ name }) => name === 'toolexec.run')).toHaveLength(1);
    expect(JSON.stringify(spans().map(({ status, events }) => [status, events]))).not.toContain('PRIVATE');
    expect((await durations())['gen_ai.execute_tool.duration']).toMatchObject([
      { count: 1, attributes: { 'error.type': 'execution_failed' } },
    ]);
  });

  it('ends the span of a call that was refused, and of one that waits', async () => {
    const refused = world({}, { approver: async () => ({ kind: 'deny_all' }) });
    await using one = refused.executor;
    await one.run([SEND]);
    expect(refused.span('execute_tool send').attributes['error.type']).toBe('user_denied');
    expect(refused.span('toolexec.approval').attributes['toolexec.approved']).toBe(false);
    const waiting = world();
    await using two = waiting.executor;
    await two.run([SEND], { conversation: 'chat', defer: true });
    expect(waiting.span('execute_tool send').attributes['error.type']).toBe('approval_unavailable');
  });

  it('makes no second execute_tool inside the one of a framework', async () => {
    const { executor, tracer, span, spans } = world();
    await using _ = executor;
    const host = tracer.startSpan('execute_tool send');
    await context.with(trace.setSpan(context.active(), host), () => executor.run([SEND]));
    host.end();
    expect(spans().filter(({ name }) => name === 'execute_tool send')).toHaveLength(1);
    expect(parentOf(span('toolexec.run'))).toBe(host.spanContext().spanId);
  });

  it('gives a call its own span inside a tool of the framework that runs several calls (their failures were lost)', async () => {
    const { executor, tracer, span, spans } = world();
    await using _ = executor;
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'research',
      'gen_ai.tool.call.id': 'r1',
    };
    const host = tracer.startSpan('execute_tool research', { attributes });
    const calls = ['fail', 'nothing'].map((name, index) => ({ id: `c${index}`, name, args: {} }));
    await context.with(trace.setSpan(context.active(), host), () => executor.run(calls));
    host.end();
    for (const name of ['execute_tool fail', 'execute_tool nothing'])
      expect(parentOf(span(name))).toBe(host.spanContext().spanId);
    expect(parentOf(span('toolexec.run'))).toBe(span('execute_tool fail').spanContext().spanId);
    expect(spans().filter(({ name }) => name === 'execute_tool research')).toHaveLength(1);
  });

  it('marks the span of a framework that reports a failed call as a success', async () => {
    const { executor, tracer, span } = world();
    await using _ = executor;
    for (const name of ['mcp__toolexec__fail', 'send']) {
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name };
      const host = tracer.startSpan(`call of ${name}`, { attributes });
      const call = { id: name, name: name.split('__').at(-1) ?? '', args: {} };
      await context.with(trace.setSpan(context.active(), host), () =>
        executor.run([call], { approver: () => ({ kind: 'deny_all' }) }),
      );
      host.end();
    }
    expect(span('call of mcp__toolexec__fail').attributes['error.type']).toBe('execution_failed');
    expect(span('call of send').attributes['error.type']).toBe('user_denied');
  });

  it('measures the time to a decision about a ticket, which was given before the run (it measured a few milliseconds)', async () => {
    let now = 1_000_000;
    const clock = { ...systemClock, now: () => now };
    const { executor, span, spans, durations } = world({}, { clock });
    await using _ = executor;
    const { ticket } = await executor.ask(SEND, { conversation: 'chat' });
    now += 7_200_000;
    await executor.decide(ticket, { kind: 'approve_all' });
    now += 3_600_000;
    await executor.run([SEND], { conversation: 'chat', ticket });
    const [waited] = (await durations())['toolexec.approval.duration'] ?? [];
    expect(waited?.count).toBe(1);
    expect(waited?.sum).toBeCloseTo(7_200, -2);
    expect(spans().map(({ name }) => name)).not.toContain('toolexec.approval');
    expect(span('execute_tool send').attributes['toolexec.approved']).toBe(true);
  });

  it('has buckets for seconds (every call below five seconds was in the first one)', async () => {
    const { executor, boundaries } = world();
    await using _ = executor;
    await executor.run([SEND]);
    const found = await boundaries();
    expect(found['gen_ai.execute_tool.duration']?.slice(0, 3)).toEqual([0.01, 0.02, 0.04]);
    expect(found['toolexec.queue.duration']?.at(-1)).toBe(81.92);
    expect(found['toolexec.approval.duration']?.at(-1)).toBe(86_400);
  });

  it('continues the trace of a request, and passes it to commands', async () => {
    const { executor, span } = world({}, { tools: undefined as never, approver: null });
    await using _ = executor;
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const call = { id: 'c1', name: 'bash', args: { command: 'echo $TRACEPARENT' } };
    const [result] = await executor.run([call], { trace: { traceparent } });
    expect(span('execute_tool bash').parentSpanContext).toMatchObject({ spanId: 'b7ad6b7169203331' });
    const { spanId } = span('toolexec.run').spanContext();
    expect(result?.output.trim()).toBe(`00-0af7651916cd43dd8448eb211c80319c-${spanId}-01`);
  });

  it('changes no call when a part of it throws', async () => {
    const broken = () => {
      throw new Error('the exporter broke');
    };
    const trace = {
      planned: broken,
      approvalRequested: broken,
      approvalDecided: broken,
      started: broken,
      completed: broken,
      headers: broken,
    };
    for (const batch of [() => trace, broken]) {
      const { executor } = world({}, { telemetry: { batch } });
      await using _ = executor;
      expect(await executor.run([SEND])).toMatchObject([{ success: true }]);
    }
  });

  it('refuses an unknown option', () => {
    expect(() => otel({ recordAll: true } as never)).toThrow('Unknown option otel.recordAll');
    expect(() => createExecutor({ telemetry: {} as never })).toThrow('options.telemetry must be');
  });
});
