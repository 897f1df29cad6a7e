// Spans of calls, with OpenTelemetry's own SDK and an exporter in memory.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createExecutor } from 'toolexec';
import { otel } from 'toolexec/otel';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const exporter = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
// #region telemetry
await using executor = createExecutor({ root, telemetry: otel({ tracerProvider, recordArguments: true }) });
// #endregion telemetry
await executor.run([{ id: 'call_1', name: 'list_directory', args: { path: '.' } }]);
const spans = exporter.getFinishedSpans();
assert.ok(spans.some(({ name }) => name === 'execute_tool list_directory'));
rmSync(root, { recursive: true });
