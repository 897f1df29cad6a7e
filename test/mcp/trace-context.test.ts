import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Executor } from '../../src/contract/executor.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { connect, ERAS, textOf } from '../../src/mcp/fixtures/connect.js';
import { mcpTools } from '../../src/mcp/mcp-tools.js';
import { otel } from '../../src/telemetry/otel.js';

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
});
afterAll(() => {
  context.disable();
  propagation.disable();
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const _meta = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' };

/** An executor whose spans are separate from those of others: for tracing, it is another program. */
function traced(options: Omit<ExecutorOptions, 'telemetry'>): { executor: Executor; span: SpanByName } {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const executor = createExecutor({ policy: null, ...options, telemetry: otel({ tracerProvider }) });
  onTestFinished(() => executor.close());
  const span = (name: string): ReadableSpan => {
    const found = exporter.getFinishedSpans().findLast((one) => one.name === name);
    if (found === undefined) throw new Error(`no span ${name}`);
    return found;
  };
  return { executor, span };
}

type SpanByName = (name: string) => ReadableSpan;

const SAY = defineTool({
  name: 'say',
  description: 'Says in which trace it runs.',
  input: { type: 'object' },
  effects: () => [],
  execute: (_, ctx) => `${ctx.trace?.traceparent} ${ctx.trace?.tracestate}`,
});

describe.each(ERAS)('trace context in _meta of MCP, revision %s', (era) => {
  it('goes from a request into the call, and from the call to the server behind', async () => {
    const behind = traced({ tools: [SAY] });
    const source = await mcpTools(await connect(behind.executor, { era }), { name: 'up', pins: false });
    const front = traced({ tools: [source] });
    const client = await connect(front.executor, { era });
    const answer = textOf(await client.callTool({ name: 'up__say', arguments: {}, _meta }));

    const received = front.span('execute_tool up__say');
    expect(received.spanContext().traceId).toBe(TRACE);
    expect(received.parentSpanContext?.spanId).toBe(CALLER);
    const sent = front.span('toolexec.run').spanContext();
    const arrived = behind.span('execute_tool say');
    expect(arrived.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: sent.spanId });
    const inner = behind.span('toolexec.run').spanContext();
    expect(answer).toBe(`00-${TRACE}-${inner.spanId}-01 vendor=1`);
  });

  it('is ignored if it is invalid', async () => {
    const { executor, span } = traced({ tools: [SAY] });
    const client = await connect(executor, { era });
    for (const traceparent of ['nonsense', `00-${'0'.repeat(32)}-${CALLER}-01`, 7]) {
      const answer = await client.callTool({ name: 'say', arguments: {}, _meta: { traceparent } });
      expect(answer.isError ?? false).toBe(false);
      expect(span('execute_tool say').parentSpanContext).toBeUndefined();
    }
  });
});
