import { loadPeer } from '../base/load-peer.js';
import type { Telemetry } from '../contract/telemetry.js';
import type { OtelOptions } from './otel.js';

const loaded = await loadPeer(
  'toolexec/otel',
  { name: '@opentelemetry/api', range: '^1.9.0' },
  () => import('./otel.js'),
);

/**
 * Spans and metrics of calls, for `createExecutor({ telemetry: otel() })`: `execute_tool NAME` with the waits for
 * approval and for other calls, and the run, as its children.
 * @throws ToolError `config_invalid` for a wrong option
 */
export const otel = (options: OtelOptions = {}): Telemetry => loaded.otel(options);
